from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from bisect_tool.errors import StoreUnreachable
from bisect_tool.service.app import make_app
from bisect_tool.service.question import Asker, Question, QuestionState, Submission
from bisect_tool.service.services import Hosting, Services
from bisect_tool.service.tokens import Scope
from bisect_tool.store.address import file_address
from tests.reports import samples
from tests.rig.opened_services import ADDRESS, opened_services

SPEC = "name: toy-spec\ntitle: A title\npackage: toy\nchannel: release\nscript: repro.py\n"
CLOSED = Hosting(address=ADDRESS, open_to=frozenset())
SCRIPT = b"print('fine')\n"
READING = [
    "/",
    "/ask",
    "/builds",
    "/workers",
    "/accuracy",
    "/sign-in",
    "/?state=nonsense&before=nonsense",
    "/?before=0x1p9999-q00000000000000000000",
    "/?before=0x1.f.fp%2B1-q00000000000000000000",
    "/builds?of=x&month=y",
]


def asked(services: Services, spec: str = SPEC) -> Question:
    return services.questions.submit(Submission(spec, (("repro.py", SCRIPT),)), Asker("ada")).question


def answered(services: Services, sample: str) -> Question:
    question = asked(services)
    work = services.queue.take("w" * 32, ["any", "cpu"])
    assert work is not None
    report = samples.ALL[sample]()
    services.results.start_run("run", spec="toy-spec", repro=question.repro, package="toy")
    services.results.end_run("run", report.outcome, report.model_dump(mode="json", by_alias=True))
    services.queue.finish(work, "run", report.outcome)
    return question


def key_of(response: Response) -> str:
    found = re.search(r'name="form_key" value="([^"]+)"', response.text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("path", READING)
def test_pages_come_with_a_policy_that_allows_nothing_inline(client: TestClient, path: str) -> None:
    page = client.get(path)
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|<script>| style=| on[a-z]+=", page.text)


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/q/nope",
        "/q/q00000000000000000000",
        "/static/nope.css",
        "/q/a/b/c",
        "/q/q00000000000000000000/logs/100000000000000000000",
        "/q/q00000000000000000000/trials/a%00/b",
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    page = client.get(path, headers={"accept": "text/html"})
    assert page.status_code == 404
    assert "<h1>Not found</h1>" in page.text


def test_an_empty_list_says_how_to_ask_the_first_question(client: TestClient) -> None:
    page = client.get("/")
    assert "Ask the first question" in page.text
    assert f"bisect submit spec.yaml --server {ADDRESS}" in page.text


def test_a_form_from_elsewhere_is_refused(client: TestClient, services: Services) -> None:
    question = asked(services)
    form_key = key_of(client.get("/ask"))
    other = "x" * 43
    for sent in ({"fresh": "yes"}, {"form_key": other}, {"form_key": ""}):
        assert client.post(f"/q/{question.id}/cancel", data=sent).status_code == 403
    foreign = {"sec-fetch-site": "cross-site", "origin": "https://example.org"}
    assert client.post(f"/q/{question.id}/cancel", data={"form_key": form_key}, headers=foreign).status_code == 403
    assert services.questions.get(question.id).state is QuestionState.QUEUED  # type: ignore[union-attr]
    assert client.post(f"/q/{question.id}/cancel", data={"form_key": form_key}).status_code == 303
    assert services.questions.get(question.id).state is QuestionState.CANCELLED  # type: ignore[union-attr]


def test_a_form_without_its_cookie_is_refused(client: TestClient, services: Services) -> None:
    question, form_key = asked(services), key_of(client.get("/ask"))
    client.cookies.clear()
    assert client.post(f"/q/{question.id}/cancel", data={"form_key": form_key}).status_code == 403


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client: TestClient) -> None:
    cookie = client.get("/ask").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_asking_twice_leads_to_the_same_question(client: TestClient) -> None:
    form = {"form_key": key_of(client.get("/ask")), "spec": SPEC.replace("\n", "\r\n"), "script": "print('fine')\r\n"}
    first = client.post("/ask", data=form, files={"files": ("", b"")})
    assert first.status_code == 303
    assert re.fullmatch("/q/q[0-9a-f]{20}", first.headers["location"])
    assert client.post("/ask", data=form).headers["location"] == first.headers["location"]


def test_a_script_longer_than_a_form_takes_is_refused_with_a_page(client: TestClient) -> None:
    form = {"form_key": key_of(client.get("/ask")), "spec": SPEC, "script": "x" * 1_200_000}
    page = client.post("/ask", data=form, files={"files": ("", b"")})
    assert page.status_code == 413
    assert "<h1>" in page.text


@pytest.mark.parametrize("form", ["md", "json", "html"])
def test_the_report_in_other_forms(client: TestClient, services: Services, form: str) -> None:
    question = answered(services, "exact")
    found = client.get(f"/q/{question.id}/report.{form}")
    assert found.status_code == 200
    assert "zero-grad" in found.text
    assert "script-src" not in found.headers["content-security-policy"]


def test_without_an_answer_there_is_no_report(client: TestClient, services: Services) -> None:
    assert client.get(f"/q/{asked(services).id}/report.md").status_code == 404


@pytest.mark.parametrize("sample", ["hostile", "hostile_commits"])
def test_nothing_of_a_report_runs(client: TestClient, services: Services, sample: str) -> None:
    page = client.get(f"/q/{answered(services, sample).id}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert 'href="javascript:' not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text


def test_the_logs_of_a_report_are_pages_of_trials(client: TestClient, services: Services) -> None:
    question = answered(services, "exact")
    page = client.get(f"/q/{question.id}")
    assert f'href="/q/{question.id}/trials/inductor/2.12.0"' in page.text
    assert "file://" not in page.text
    assert "No trial is stored" in client.get(f"/q/{question.id}/trials/inductor/2.12.0").text
    assert client.get(f"/q/{question.id}/trials/inductor/99").status_code == 404


def test_the_live_part_ends_when_the_answer_is_there(client: TestClient, services: Services) -> None:
    question = asked(services)
    assert "It waits for a worker" in client.get(f"/q/{question.id}/live").text
    assert client.get(f"/q/{question.id}/live").status_code == 200
    services.questions.cancel(question.id)
    assert client.get(f"/q/{question.id}/live").status_code == 205


def test_static_files_are_kept_as_long_as_their_address_lasts(client: TestClient) -> None:
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text)
    assert len(addresses) == 3
    for address in addresses:
        assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get("/favicon.ico").headers["cache-control"] == "public, max-age=86400"


def test_who_has_no_token_is_asked_to_sign_in_and_then_comes_in(tmp_path: Path) -> None:
    with opened_services(file_address(tmp_path / "x.sqlite"), tmp_path, CLOSED) as services:
        client = TestClient(make_app(services), base_url=ADDRESS, follow_redirects=False)
        page = client.get("/workers")
        assert page.status_code == 401
        assert 'type="password"' in page.text
        token = services.tokens.make("ada", [Scope.READ])
        form = {"form_key": key_of(page), "back": "/workers"}
        assert client.post("/sign-in", data={**form, "token": "wrong"}).status_code == 403
        entered = client.post("/sign-in", data={**form, "token": token.text})
        assert entered.headers["location"] == "/workers"
        page = client.get("/workers")
        assert page.status_code == 200
        assert "<span>ada</span>" in page.text
        assert client.post("/ask", data={**form, "spec": SPEC}).status_code == 403  # reads only
        client.post("/sign-out", data=form)
        assert client.get("/workers").status_code == 401


def test_a_token_that_ended_is_forgotten_by_the_browser(client: TestClient, services: Services) -> None:
    made = services.tokens.make("ann", [Scope.READ])
    client.cookies.set("bisect_token", made.text)
    assert client.get("/").status_code == 200
    services.tokens.revoke("ann")
    refused = client.get("/")
    assert refused.status_code == 401
    assert 'bisect_token=""' in refused.headers["set-cookie"]
    client.cookies.clear()
    assert client.get("/").status_code == 200  # as everybody


def test_what_is_wrong_with_the_server_is_not_for_its_visitors(
    client: TestClient, services: Services, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def be_away(*_: object) -> None:
        raise StoreUnreachable("the results database does not answer", where="postgresql://db:5432", advice="wait")

    monkeypatch.setattr(services.questions, "find", be_away)
    page = client.get("/")
    assert (page.status_code, page.headers["retry-after"]) == (503, "5")
    assert "postgresql" not in page.text
    assert page.headers["x-request-id"] in page.text
    assert "the results database does not answer" in caplog.text


@pytest.mark.parametrize("back", ["//example.org", "https://example.org", "/\\example.org", "/a\r\nb", ""])
def test_signing_in_leads_nowhere_else(client: TestClient, services: Services, back: str) -> None:
    form = {"form_key": key_of(client.get("/sign-in")), "back": back}
    token = services.tokens.make("ada", [Scope.READ])
    assert client.post("/sign-in", data={**form, "token": token.text}).headers["location"] == "/"


def test_signing_in_leads_back_with_the_filters_and_to_the_page_of_a_form(tmp_path: Path) -> None:
    def back(page: Response) -> str:
        found = re.search(r'name="back" value="([^"]*)"', page.text)
        return found[1] if found else ""

    with opened_services(file_address(tmp_path / "x.sqlite"), tmp_path, CLOSED) as services:
        client = TestClient(make_app(services), base_url=ADDRESS, follow_redirects=False)
        assert back(client.get("/builds?month=2026-03")) == "/builds?month=2026-03"
        form = {"form_key": key_of(client.get("/sign-in"))}
        refused = client.post("/ask", data={**form, "spec": SPEC, "script": "import toy  # mine"})
        assert refused.status_code == 401
        assert "import toy  # mine" in refused.text  # nothing that was typed is lost
        assert "Sign in in another tab" in refused.text
        assert 'href="/sign-in?back=/ask"' in refused.text
        assert "import toy" not in client.post("/ask", data={"form_key": "forged", "script": "import toy"}).text
        client.cookies.set("bisect_token", "one that was revoked")
        ended = client.post("/ask", data={**form, "spec": SPEC, "script": "import toy  # mine"})
        assert (ended.status_code, "import toy  # mine" in ended.text) == (401, True)
        assert 'bisect_token=""' in ended.headers["set-cookie"]
        client.cookies.delete("bisect_token")
        assert back(client.post("/q/q12/cancel", data=form)) == "/q/q12"
        assert back(client.get("/sign-in?back=%2Fbuilds%3Fmonth%3D2026-03")) == "/builds?month=2026-03"
        assert back(client.get("/sign-in?back=//example.org")) == "/"


def test_an_address_that_is_not_there_asks_nobody_to_sign_in(client: TestClient) -> None:
    page = client.get("/nowhere")
    assert page.status_code == 404
    assert "/sign-in" not in page.text
