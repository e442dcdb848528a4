from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from httpx2 import Response

from bisect_tool.errors import StoreUnreachable
from bisect_tool.service.app import make_app
from bisect_tool.service.guards import MOST_BYTES
from bisect_tool.service.pages.for_people import prefers_page
from bisect_tool.service.pages.rendering import POLICY
from bisect_tool.service.problems import Refused
from bisect_tool.service.rates import Rates, read_rate
from bisect_tool.service.services import Services
from bisect_tool.service.tokens import Scope
from tests.rig.opened_services import ADDRESS

# As Chromium and Firefox send it.
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}
PROGRAM = {"accept": "*/*"}
BAD = APIRouter()


@BAD.get("/broken")
def broken() -> None:
    raise RuntimeError("secret")


@BAD.get("/refuses")
def refuses() -> None:
    raise Refused(422, "<script>alert(1)</script>", "mend it", where="<b>", mistakes=["a & b", "<i>"])


def is_page(told: Response) -> bool:
    """Whether it is a page in the look of the others, under the strict policy."""
    assert told.headers["content-security-policy"] == POLICY
    assert told.headers["cache-control"] == "no-store"
    assert told.headers["content-type"] == "text/html; charset=utf-8"
    return '<nav aria-label="Main">' in told.text and "/static/style.css" in told.text


def is_problem(told: Response) -> bool:
    return told.headers["content-type"] == "application/problem+json" and told.json()["status"] == told.status_code


def refusals(client: TestClient, accept: dict[str, str]) -> Iterator[Response]:
    """What the guards and the framework refuse: too large, from elsewhere, for another host, nowhere, in no way, broken."""
    too_large = {**accept, "content-type": "application/json"}
    yield client.post("/api/v1/watches", content=b" " * (MOST_BYTES + 1), headers=too_large)
    yield client.post("/ask", headers={**accept, "sec-fetch-site": "cross-site"})
    yield client.get("/", headers={**accept, "host": "evil.example"})
    yield client.get("/nowhere", headers=accept)
    yield client.get("/api/v1/nowhere", headers=accept)
    yield client.put("/ask", headers=accept)
    yield client.get("/broken", headers=accept)


@pytest.fixture
def client(services: Services) -> TestClient:
    app = make_app(services)
    app.include_router(BAD)
    return TestClient(app, base_url=ADDRESS, raise_server_exceptions=False)


def test_a_browser_is_told_by_a_page_and_a_program_by_details(client: TestClient) -> None:
    pages, details = [*refusals(client, BROWSER)], [*refusals(client, PROGRAM)]
    statuses = [413, 403, 403, 404, 404, 405, 500]
    assert [told.status_code for told in pages] == [told.status_code for told in details] == statuses
    assert all(map(is_page, pages))
    assert all(map(is_problem, details))
    assert {told.headers["vary"] for told in (*pages, *details)} == {"Accept"}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, ["The body is too large: nothing was changed.", "Send at most 1 000 000 bytes."]),
        (1, ["The request comes from another web site: nothing was changed.", "bisect serve --address"]),
        (2, ["The request was made for another host."]),
        (3, ["There is no such page.", "Look for it in the list of questions."]),
        (5, ["This address cannot be used in that way: nothing was changed.", "use the links and buttons of the page"]),
        (6, ["The server has a defect.", "Tell whoever runs it the id"]),
    ],
)
def test_it_says_what_happened_and_what_to_do_next(client: TestClient, number: int, words: list[str]) -> None:
    page = list(refusals(client, BROWSER))[number]
    assert [one for one in words if one not in page.text] == []


def test_nothing_of_a_problem_is_markup(client: TestClient) -> None:
    page = client.get("/refuses", headers=BROWSER)
    assert (page.status_code, is_page(page)) == (422, True)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;." in page.text
    assert "<code>&lt;b&gt;</code>" in page.text
    assert "<li>a &amp; b</li><li>&lt;i&gt;</li>" in page.text


def test_no_key_of_a_form_goes_to_whoever_is_refused(client: TestClient) -> None:
    assert [told for told in refusals(client, BROWSER) if "set-cookie" in told.headers] == []


def test_too_many_requests_wait_and_try_again(services: Services) -> None:
    rates = Rates(requests=read_rate("2/minute"))
    client = TestClient(make_app(services, rates), base_url=ADDRESS)
    told = [client.get(path, headers=BROWSER) for path in ("/", "/", "/", "/api/v1/questions")]
    assert [one.status_code for one in told] == [200, 200, 429, 429]
    for page in told[2:]:
        pause = page.headers["retry-after"]
        assert is_page(page)
        assert f"Ask again in {pause} s." in page.text
        assert f'<meta http-equiv="refresh" content="{pause}">' in page.text
    posted = client.post("/sign-in", headers=BROWSER)
    assert "http-equiv" not in posted.text  # what was sent is not sent again


def test_who_needs_a_token_can_bring_it_there(services: Services) -> None:
    closed = replace(services, hosting=replace(services.hosting, open_to=frozenset()))
    client = TestClient(make_app(closed), base_url=ADDRESS, follow_redirects=False)
    page = client.get("/api/v1/questions", headers=BROWSER)
    assert (page.status_code, is_page(page)) == (401, True)
    assert '<input type="hidden" name="back" value="/api/v1/questions">' in page.text
    assert page.headers["www-authenticate"].startswith("Bearer")
    assert 'name="form_key"' in page.text
    assert "bisect_form" in client.cookies
    reader = closed.tokens.make("ann", [Scope.READ])
    client.cookies.set("bisect_token", reader.text)
    refused = client.post("/api/v1/questions/q00000000000000000000/cancel", headers=BROWSER)
    assert refused.status_code in {403, 404}
    forbidden = client.get("/api/v1/posts", headers=BROWSER)
    assert (forbidden.status_code, is_page(forbidden)) == (403, True)
    assert "The token ann does not have the scope `work`." in forbidden.text


def test_a_database_that_is_away(client: TestClient, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    def be_away(*_: object, **__: object) -> None:
        raise StoreUnreachable("postgresql://db:5432 does not answer", where="postgresql://db:5432", advice="wait")

    monkeypatch.setattr(type(services.database), "read", be_away)
    pages = [client.get(path, headers=BROWSER) for path in ("/", "/api/v1/questions", "/q/q00000000000000000000")]
    for page in pages:
        assert (page.status_code, is_page(page)) == (503, True)
        assert "The database of the server does not answer." in page.text
        assert '<meta http-equiv="refresh" content="5">' in page.text
        assert "postgresql" not in page.text
    assert client.get("/api/v1/questions", headers=PROGRAM).json()["status"] == 503


def test_a_server_that_stops(client: TestClient, services: Services) -> None:
    from tests.service.pages.test_routes import asked

    question = asked(services)
    client.app.state.feed.is_closing = True  # type: ignore[attr-defined]
    path = f"/api/v1/questions/{question.id}/events"
    page = client.get(path, headers=BROWSER)
    assert (page.status_code, is_page(page)) == (503, True)
    assert "No further stream of events can be opened now." in page.text
    assert json.loads(client.get(path, headers={"accept": "text/event-stream"}).text)["status"] == 503


@pytest.mark.parametrize(
    ("accept", "is_for_people"),
    [
        (BROWSER["accept"], True),
        ("text/html", True),
        ("TEXT/HTML; q=0.5", True),
        ("text/html;q=0.5, application/json;q=0.5", True),
        ("text/html;q=0.4, application/problem+json;q=0.5", False),
        ("application/json, text/html;q=0.9", False),
        ("text/html;q=0", False),
        ("text/html;q=much", False),
        ("*/*", False),
        ("", False),
        ("text/event-stream", False),
    ],
)
def test_a_page_is_for_whoever_would_rather_have_one(accept: str, is_for_people: bool) -> None:  # noqa: FBT001
    assert prefers_page(accept) is is_for_people


@pytest.mark.parametrize(
    ("accept", "is_for_people"),
    [
        (BROWSER["accept"], True),
        ("text/html", True),
        ("application/json, text/html", False),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", True),
        ("text/html, */*", False),
    ],
)
def test_of_an_address_for_programs_a_page_is_for_whoever_likes_it_best(accept: str, is_for_people: bool) -> None:  # noqa: FBT001
    assert prefers_page(accept, is_for_programs=True) is is_for_people
