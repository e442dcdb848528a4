"""What the end of a job means to somebody who was not there: the events that webhooks are called with. Pure.

`docs/webhooks.md` describes each of them, and `SCHEMA_VERSION` counts what would surprise a reader of an older body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bisect_tool.reports.answer import summary
from bisect_tool.reports.cleaning import one_line
from bisect_tool.reports.report import Appeared, Failure, Fixed, Report
from bisect_tool.service.github.wording import gist_of, why_not_told
from bisect_tool.service.question import ANSWERING, Job, JobState, Purpose, Question

SCHEMA_VERSION = 1
EVENTS = ("question.answered", "question.failed", "question.cancelled", "answer.changed", "failure.fixed")
MOST_FAILURES = 100
MOST_TEXT = 1000  # characters of a sentence


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that has ended. `report` is that of its run, `before` the answer that the question had until then; None: none."""

    job: Job
    question: Question
    report: Report | None
    before: Report | None
    page: str


def happened(end: Ended) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of an end, each with its body."""
    is_answering = end.job.purpose in ANSWERING
    match end.job.state:
        case JobState.DONE if end.report is not None and end.job.purpose is not Purpose.VERIFY:
            if is_answering:
                yield "question.answered", _body("question.answered", end)
            yield from _news(end, end.report)
        case JobState.FAILED if is_answering:
            yield "question.failed", _body("question.failed", end)
        case JobState.CANCELLED if is_answering:
            yield "question.cancelled", _body("question.cancelled", end)
        case _:
            return


def fixed_since(before: Report, now: Report) -> list[Failure]:
    """The failures of `now` that are fixed, verified, and were still there at the end of `before`."""
    still_there = {
        (one.case, one.id) for one in before.failures if one.episodes and one.episodes[-1].fixed.kind == "open"
    }
    return [one for one in now.failures if (one.case, one.id) in still_there and _is_fixed(one)]


def _is_fixed(failure: Failure) -> bool:
    end = failure.episodes[-1].fixed if failure.episodes else None
    return end is not None and end.kind != "open" and end.verified and not end.changed_into


def _news(end: Ended, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    if end.before is None or why_not_told(report) is not None:
        return
    if fixed := fixed_since(end.before, report):
        yield "failure.fixed", _body("failure.fixed", end, fixed)
    if gist_of(end.before) != gist_of(report):
        yield "answer.changed", _body("answer.changed", end)


def _body(kind: str, end: Ended, failures: list[Failure] | None = None) -> dict[str, Any]:
    report, question = end.report, end.question
    told = failures if failures is not None else list(report.failures) if report else []
    return {
        "type": kind,
        "schema_version": SCHEMA_VERSION,
        "timestamp": datetime.fromtimestamp(end.job.ended or 0.0, tz=UTC).isoformat(timespec="seconds"),
        "data": {
            "question": {
                "id": question.id,
                "name": question.name,
                "title": question.title,
                "package": question.package,
                "channel": question.channel,
                "issue": question.issue,
                "owner": question.owner,
                "page": end.page,
            },
            "job": {"id": end.job.id, "purpose": end.job.purpose, "run": end.job.run},
            "outcome": report.outcome if report else None,
            "verified": report is not None and why_not_told(report) is None,
            "summary": [one_line(text, MOST_TEXT) for text in summary(report)] if report else [],
            "failures": [_failure(one) for one in told[:MOST_FAILURES]],
            "error": dict(end.job.error) if end.job.error else None,
        },
    }


def _failure(failure: Failure) -> dict[str, Any]:
    episodes = [{"appeared": _end(one.appeared), "fixed": _end(one.fixed)} for one in failure.episodes]
    return {"id": failure.id, "name": failure.name, "case": failure.case, "episodes": episodes}


def _end(end: Appeared | Fixed) -> dict[str, Any]:
    builds = (
        {"last_without": end.last_without, "first_with": end.first_with}
        if isinstance(end, Appeared)
        else {"last_with": end.last_with, "first_without": end.first_without}
    )
    return {"kind": end.kind, "verified": end.verified, **builds, "compare": end.compare}
