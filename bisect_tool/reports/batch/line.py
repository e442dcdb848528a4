"""One spec of a batch as a value: a line of `summary.jsonl`, from which the page and the JUnit file are made.

All that they show is in here, so that the lines of several folders can be put together without their reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from bisect_tool.reports import timeline
from bisect_tool.reports.answer import summary
from bisect_tool.reports.commit_lines import web_address
from bisect_tool.reports.part import Part
from bisect_tool.reports.report import CasePart, Failure, Kind, Outcome, Report, State

Status = Literal["answered", "unfinished", "failed", "invalid"]
Now = Literal["fixed", "still failing", "changed", "not judged", "no new build"]


class StretchPart(Part):
    """Neighbouring builds of one state; the dates are those of the first and the last of them, as far as known."""

    first: str
    last: str
    first_date: str | None = None
    last_date: str | None = None
    builds: int
    tried: int
    state: State
    failure: str | None = None


class TimelinePart(Part):
    """The timeline of one case, oldest first."""

    case: str
    role: Literal["test", "control"]
    stretches: tuple[StretchPart, ...]


class ChangePart(Part):
    """One stretch of builds that have a failure. An end that is `open` reaches the edge of the range.

    `is_open`: the newest build that was judged has it.
    """

    failure: str
    name: str
    case: str
    appeared: Kind
    last_without: str | None
    first_with: str
    fixed: Kind
    last_with: str
    first_without: str | None
    is_open: bool
    compare: str | None = None


class ErrorPart(Part):
    """Why a spec has no answer; `kind` is its name in `docs/exit-statuses.md`, `status` the number there."""

    kind: str
    status: int
    what: str
    where: str | None = None
    advice: str


class SincePart(Part):
    """What has become of a failure that was open at the build `was`, the newest of the answer before.

    `fixed`: `first_without` is the first build without it and `last_with` the last one with it, as sure as `kind` says.
    """

    failure: str
    name: str
    case: str
    was: str
    now: Now
    kind: Kind | None = None
    last_with: str | None = None
    first_without: str | None = None
    note: str = ""


class SpecLine(Part):
    """What a batch says of one spec. `name` is unique in the batch; `folder` has its files, relative to the summary.

    `status`: `answered` (see `outcome`), `unfinished` (the batch was stopped before), `failed` (a fault that ended this spec
    alone), `invalid` (the spec has mistakes). `ended` is UTC. `error` tells why there is no answer.
    """

    schema_version: Literal[1] = 1
    name: str
    spec: str | None = None
    title: str = ""
    issue: str | None = None
    path: str
    digest: str | None = None
    package: str | None = None
    channel: str | None = None
    device: str | None = None
    status: Status
    outcome: Outcome | None = None
    summary: tuple[str, ...] = ()
    first: str | None = None
    last: str | None = None
    last_date: str | None = None
    changes: tuple[ChangePart, ...] = ()
    timelines: tuple[TimelinePart, ...] = ()
    since: tuple[SincePart, ...] = ()
    error: ErrorPart | None = None
    builds: int = 0
    installed: int = 0
    trials: int = 0
    known: int = 0
    folder: str | None = Field(default=None, description="Where report.json, report.md, report.html and logs/ lie.")
    ended: str

    @property
    def is_answered(self) -> bool:
        """Whether the question has an answer, be it that nothing could be judged."""
        return self.status == "answered"

    @property
    def open_changes(self) -> tuple[ChangePart, ...]:
        """The failures that the newest build has."""
        return tuple(one for one in self.changes if one.is_open)


def line_of(report: Report, *, name: str, folder: str, ended: str) -> SpecLine:
    """The line of a spec that has a report; `name`, `folder` and `ended` as in `SpecLine`."""
    return SpecLine(
        name=name,
        spec=report.spec.name,
        title=report.spec.title,
        issue=web_address(report.spec.issue),
        path=report.spec.path or "",
        digest=report.spec.digest,
        package=report.spec.package,
        channel=report.channel,
        device=report.environment.device,
        status="unfinished" if report.outcome == "unfinished" else "answered",
        outcome=report.outcome,
        summary=summary(report),
        first=report.range.first,
        last=report.cases[0].timeline[-1].build,
        last_date=report.cases[0].timeline[-1].date,
        changes=tuple(change for failure in report.failures for change in _changes(failure, report)),
        timelines=tuple(_timeline(case) for case in report.cases),
        builds=report.counts.builds_considered,
        installed=report.counts.builds_installed,
        trials=report.counts.trials,
        known=report.counts.trials_known,
        folder=folder,
        ended=ended,
    )


def _changes(failure: Failure, report: Report) -> Iterator[ChangePart]:
    newest = newest_judged(report, failure.case)
    for episode in failure.episodes:
        begin, end = episode.appeared, episode.fixed
        yield ChangePart(
            failure=failure.id,
            name=failure.name,
            case=failure.case,
            appeared=begin.kind,
            last_without=begin.last_without,
            first_with=begin.first_with,
            fixed=end.kind,
            last_with=end.last_with,
            first_without=end.first_without,
            is_open=end.kind == "open" and end.last_with == newest,
            compare=web_address(begin.compare),
        )


def newest_judged(report: Report, case: str) -> str | None:
    """The newest build that says something about a case."""
    entries = next(one.timeline for one in report.cases if one.name == case)
    judged = [entry.build for entry in entries if entry.state not in {"untestable", "not tried"}]
    return judged[-1] if judged else None


def _timeline(case: CasePart) -> TimelinePart:
    dates = [entry.date for entry in case.timeline]
    stretches = tuple(
        StretchPart(
            first=one.first,
            last=one.last,
            first_date=dates[one.start],
            last_date=dates[one.end],
            builds=one.builds,
            tried=one.tried,
            state=one.state,
            failure=one.failures[0] if one.failures else None,
        )
        for one in timeline.stretches(case.timeline)
    )
    return TimelinePart(case=case.name, role=case.role, stretches=stretches)
