"""Reports, badges, evidence and logs over HTTP."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert

from bisect_tool.reports.formats import html, markdown
from bisect_tool.reports.report import Report
from bisect_tool.service.app import make_app
from bisect_tool.service.services import Services
from bisect_tool.store.logs import SharedLogs
from bisect_tool.store.tables import healths, trials
from tests.reports import samples
from tests.rig.answered import answered
from tests.rig.asked import submission
from tests.rig.opened_services import ADDRESS

OBSERVED = {
    "exit_status": 1, "signal": None, "timed_out": False, "timeout": 300.0, "duration": 1.5, "output": "boom",
    "output_bytes": 4,
    "chain": [{"type": "ValueError", "message": "no such shape", "relation": "raised", "frames": []}], "checks": [],
    "malformed": None, "peak_memory": 1000, "memory_total": None, "left_running": 0, "gpu_others": None, "gpu_total": None,
    "warm": False, "machine": "", "over": "",
}  # fmt: skip


def test_a_report_in_each_format(client: TestClient, services: Services) -> None:
    question = answered(services, submission(), samples.exact())
    base = f"/api/v1/questions/{question}/report"
    assert Report.model_validate(client.get(f"{base}.json").json()) == samples.exact()
    told = client.get(f"{base}.md")
    assert (told.text, told.headers["content-type"]) == (
        markdown.render(samples.exact()),
        "text/markdown; charset=utf-8",
    )
    page = client.get(f"{base}.html")
    assert page.text == html.render(samples.exact())
    assert "sandbox" in page.headers["content-security-policy"]
    assert "=> zero-grad appeared in 2.12.0" in client.get(f"{base}.txt").text
    assert client.get(f"{base}.pdf").status_code == 422


def test_no_report_yet(client: TestClient, services: Services) -> None:
    from bisect_tool.service.question import Asker

    question = services.questions.submit(submission(), Asker()).question.id
    told = client.get(f"/api/v1/questions/{question}/report.json")
    assert (told.status_code, told.json()["detail"]) == (404, f"the question {question} has no report: it is queued")


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (samples.exact(), "fixed in 2.14.0"),
        (samples.narrowed(), "broke between 2.9.1 and 2.12.0"),
        (samples.open_ended(), "fails"),
        (samples.changed(), "fails since 2.13.0"),
        (samples.unchanged(), "no failure"),
        (samples.not_judged(), "could not be judged"),
    ],
)
def test_what_a_badge_says(client: TestClient, services: Services, report: Report, message: str) -> None:
    question = answered(services, submission(), report)
    told = client.get(f"/api/v1/questions/{question}/badge.svg")
    assert told.headers["content-type"] == "image/svg+xml"
    title = ET.fromstring(told.text).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == f"toy: {message}"


def test_a_badge_is_kept_by_whoever_shows_it(client: TestClient, services: Services) -> None:
    question = answered(services, submission(), samples.exact())
    first = client.get(f"/api/v1/questions/{question}/badge.svg")
    assert first.headers["cache-control"] == "public, max-age=300"
    assert first.headers["cross-origin-resource-policy"] == "cross-origin"
    again = client.get(f"/api/v1/questions/{question}/badge.svg", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_badge_runs_nothing() -> None:
    from bisect_tool.service.badge import Badge, draw

    drawn = ET.fromstring(draw(Badge('"><script>alert(1)</script>', "a\x00b & <c>\n" + "x" * 100, "#000")))
    assert {element.tag.rpartition("}")[2] for element in drawn.iter()} == {"svg", "title", "rect", "path", "g", "text"}


def keep_trial(services: Services, question: str, folder: str, log: str | None = None) -> None:
    found = services.questions.get(question)
    assert found is not None
    where = {"identity": "sha256:1", "setting": "s", "device": "cpu"}
    row = {"repro": found.repro, "case_digest": "d", "case_name": "main", "package": "toy", "version": "1.2", **where}
    more = {
        "observation": OBSERVED,
        "folder": folder,
        "log": log,
        "command": "python repro.py",
        "finished": "2026-11-01T00:00:00+00:00",
    }
    with services.database.engine.begin() as connection:
        connection.execute(insert(trials).values(**row, **more, duration=1.5))
        connection.execute(healths.delete())
        connection.execute(insert(healths).values(**where, health={"version": "1.2"}, found="2026-11-01"))


def test_the_evidence_of_a_state(client: TestClient, services: Services) -> None:
    question = answered(services, submission(failures=[{"name": "shape", "match": "no such shape"}]), samples.exact())
    keep_trial(services, question, "trials/1")
    log = services.cache.root / "trials" / "1" / "log.txt"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"boom\xff<script>")
    (told,) = client.get(f"/api/v1/questions/{question}/trials/main/1.2").json()["trials"]
    assert (told["state"], told["command"], told["exit_status"], told["environment"]) == (
        "failing", "python repro.py", 1, {"version": "1.2"},
    )  # fmt: skip
    (failure,) = told["failures"]
    assert (failure["name"], failure["types"], failure["message"]) == ("shape", ["ValueError"], "no such shape")
    answer = client.get(told["log"])
    assert (answer.content, answer.headers["content-type"]) == (b"boom\xff<script>", "text/plain; charset=utf-8")
    assert client.get(f"/api/v1/questions/{question}/trials/main/1.3").status_code == 404


def test_the_log_of_another_host(services: Services, tmp_path: Path) -> None:
    question = answered(services, submission(), samples.exact())
    keep_trial(services, question, "trials/1")
    (tmp_path / "logs" / "1").mkdir(parents=True)
    (tmp_path / "logs" / "1" / "log.txt").write_text("printed elsewhere")
    settings = replace(services.settings, logs=str(tmp_path / "logs"))
    client = TestClient(make_app(replace(services, settings=settings)), base_url=ADDRESS)
    (trial,) = client.get(f"/api/v1/questions/{question}/trials/main/1.2").json()["trials"]
    assert client.get(trial["log"]).text == "printed elsewhere"


def test_a_log_at_an_address_is_shown_like_one_of_this_host(services: Services, tmp_path: Path) -> None:
    question = answered(services, submission(), samples.exact())
    logs = f"memory://{tmp_path.name}/logs?key=s3cret"
    folder = tmp_path / "trials" / "20260101-a"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_bytes(b"printed <b>far away</b>")
    kept = SharedLogs(logs, print).keep(folder)
    keep_trial(services, question, "trials/20260101-a", log=kept)
    keep_trial(services, question, "trials/20260101-gone", log=f"memory://{tmp_path.name}/logs/20260101-gone/log.txt")
    keep_trial(services, question, "trials/20260101-b", log="file:///etc/passwd")
    client = TestClient(make_app(replace(services, settings=replace(services.settings, logs=logs))), base_url=ADDRESS)
    page = client.get(f"/q/{question}/trials/main/1.2").text
    assert page.count("Whole log") == 2
    assert "file:///etc/passwd (kept where this server does not read)" in page
    assert "s3cret" not in page
    own, gone, elsewhere = client.get(f"/api/v1/questions/{question}/trials/main/1.2").json()["trials"]
    for address in (own["log"], own["log"].removeprefix("/api/v1").replace("questions", "q")):
        told = client.get(address)
        assert (told.content, told.headers["content-type"]) == (b"printed <b>far away</b>", "text/plain; charset=utf-8")
        assert told.headers["x-content-type-options"] == "nosniff"
    assert elsewhere["log"] == "file:///etc/passwd"
    assert client.get(f"/q/{question}/logs/{elsewhere['number']}").status_code == 404
    missing = client.get(f"/q/{question}/logs/{gone['number']}")
    assert missing.status_code == 404
    assert "The log of this trial is kept elsewhere, and cannot be read: it is not there any more." in missing.text
    assert f"memory://{tmp_path.name}/logs/20260101-gone/log.txt" in missing.text


def test_a_place_of_logs_that_gives_none(services: Services) -> None:
    question = answered(services, submission(), samples.exact())
    keep_trial(services, question, "trials/1", log="nosuch://logs/1/log.txt")
    settings = replace(services.settings, logs="nosuch://me:s3cret@logs")
    client = TestClient(make_app(replace(services, settings=settings)), base_url=ADDRESS)
    page = client.get(f"/q/{question}/logs/1")
    assert (page.status_code, page.headers["content-type"]) == (502, "text/html; charset=utf-8")
    assert "cannot be read: reading it failed (ValueError)." in page.text
    assert "Try again later, or read it there." in page.text
    assert "s3cret" not in page.text
    problem = client.get(f"/api/v1/questions/{question}/logs/1").json()
    assert (problem["status"], problem["where"]) == (502, "nosuch://logs/1/log.txt")


def test_a_log_leads_nowhere_else(client: TestClient, services: Services, tmp_path: Path) -> None:
    """A repro runs where its log is written: it may put links there."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    question = answered(services, submission(), samples.exact())
    places = services.cache.root / "trials"
    for folder in ("link", "pipe", "../../outside"):
        (places / folder).mkdir(parents=True, exist_ok=True)
        keep_trial(services, question, f"trials/{folder}")
    (places / "link" / "log.txt").symlink_to(secret)
    os.mkfifo(places / "pipe" / "log.txt")
    (places / "../../outside" / "log.txt").write_text("outside")
    for number in (1, 2, 3, 4):
        assert client.get(f"/api/v1/questions/{question}/logs/{number}").status_code == 404
