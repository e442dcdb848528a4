"""The code of `docs/webhooks.md` is code: it takes what we send, and nothing else."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bisect_tool.service.github.wording import why_not_told
from bisect_tool.service.happenings import EVENTS, Ended, happened
from bisect_tool.service.question import Job, JobState, Purpose, Question, QuestionState
from bisect_tool.service.signing import sign_webhook, webhook_secret
from tests.reports import samples

PAGE = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"o" * 32).decode()
NOW = 1_800_000_000


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def is_genuine() -> Callable[..., bool]:
    names: dict[str, Any] = {}
    exec(compile(block("python"), str(PAGE), "exec"), names)
    found: Callable[..., bool] = names["is_genuine"]
    return found


def headers(body: bytes, *secrets: str) -> dict[str, str]:
    keys = [webhook_secret(secret) for secret in secrets]
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(NOW),
        "webhook-signature": sign_webhook(keys, "msg_1", NOW, body),
    }


def test_the_receiver_of_the_page_takes_what_we_send() -> None:
    check, body = is_genuine(), '{"größe": 1}'.encode()
    assert check(SECRET, headers(body, SECRET), body, NOW + 299)
    assert check(SECRET, headers(body, OTHER, SECRET), body, NOW)


def test_the_receiver_of_the_page_takes_nothing_else() -> None:
    check, body = is_genuine(), b"{}"
    assert not check(SECRET, headers(body, SECRET), body + b" ", NOW)
    assert not check(SECRET, headers(body, OTHER), body, NOW)
    assert not check(SECRET, headers(body, SECRET), body, NOW + 301)
    assert not check(SECRET, headers(body, SECRET) | {"webhook-id": "msg_2"}, body, NOW)
    assert not check(SECRET, {}, body, NOW)


def test_the_example_of_the_page_has_the_fields_that_we_send() -> None:
    question = Question(
        "q0", "0", "n", "t", "torch", "release", None, "", "", "ann", None, QuestionState.ANSWERED, "exact", "r", None, 0.0, 0.0
    )  # fmt: skip
    job = Job(
        id=7, question="q0", purpose=Purpose.ANSWER, state=JobState.DONE, priority=50, lane="cpu", owner="ann", queued=0.0,
        not_before=0.0, attempts=0, cancel=False, worker=None, started=0.0, ended=1.0, run="r", outcome="exact", error=None,
    )  # fmt: skip
    report = samples.exact()
    assert why_not_told(report) is None
    ((_, sent),) = happened(Ended(job, question, report, None, "https://bisect.example.org/q/q0"))
    shown = json.loads(block("json"))
    assert shown.keys() == sent.keys()
    assert shown["data"].keys() == sent["data"].keys()
    assert shown["data"]["question"].keys() == sent["data"]["question"].keys()
    assert shown["data"]["job"].keys() == sent["data"]["job"].keys()
    ours, theirs = (one["data"]["failures"][0] for one in (sent, shown))
    assert ours.keys() == theirs.keys()
    for end in ("appeared", "fixed"):
        assert ours["episodes"][0][end].keys() == theirs["episodes"][0][end].keys()


def test_every_event_is_on_the_page() -> None:
    named = re.findall(r"^\| `([a-z.]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) == set(EVENTS)
