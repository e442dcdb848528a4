"""A run while it is under way, as its page shows it: a fold of the events of one job. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from markupsafe import Markup

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports import events, timeline
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.live import plain_line
from bisect_tool.reports.picture import draw, failure_class
from bisect_tool.reports.report import Boundary, CasePart, Counts, Entry, Machine, Range, Report, SpecPart, State
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.watching import Question, Watched, download_totals, open_ranges
from bisect_tool.service.event_reading import read_event
from bisect_tool.service.pages.rate_view import LiveRate, is_unsettled, live_rates

MOST_LINES = 300
COUNTED: tuple[State, ...] = ("pass", "failing", "flaky", "untestable", "not tried")


_NIGHTLY = re.compile(r"\.dev(20\d\d)([01]\d)([0-3]\d)\b")
_OF_SERVICE = {"job_queued": "waits for a worker", "job_started": "a worker has taken it"}
_TROUBLE = (events.MachineTrouble, events.SlotLost, events.Untestable)


class Happened(Protocol):
    """A stored event: `kind` is a class of `bisect_tool.reports.events` in snake case, `body` its fields, `at` seconds."""

    @property
    def at(self) -> float:
        """When, in seconds since 1970."""

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def body(self) -> Mapping[str, Any]:
        """Its fields."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log; trouble is marked with more than a colour."""

    at: float
    text: str
    is_trouble: bool = False


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """How many builds have which state, in the order of `COUNTED`."""

    name: str
    role: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LiveFailure:
    """A failure that was seen: its letter in the picture, and the class of its colour."""

    letter: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class LiveView:
    """What is known of a run, up to the event `last`.

    `picture` is SVG, empty before the builds are known; `doing` says what goes on now.
    """

    doing: tuple[str, ...]
    picture: Markup = field(default_factory=Markup)
    cases: tuple[CaseCounts, ...] = ()
    failures: tuple[LiveFailure, ...] = ()
    left: tuple[str, ...] = ()
    rates: tuple[LiveRate, ...] = ()
    lines: tuple[LogLine, ...] = ()
    last: int = 0


@dataclass(slots=True)
class Followed:
    """The run so far, after the event `last`."""

    last: int = 0

    at: float = 0.0
    watched: Watched = field(init=False)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    trials: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: list[LogLine] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    rates: dict[tuple[str, str], events.RatesStudied] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.watched = Watched(lambda: self.at)

    def take(self, happened: Happened) -> None:
        """Take the next event; what only the service tells is a line of the log, what nobody knows is nothing."""
        event = read_event(happened.kind, happened.body)
        if event is not None:
            self._take(happened.at, event)
        elif happened.kind in _OF_SERVICE:
            self._add_line(LogLine(happened.at, _OF_SERVICE[happened.kind]))

    def _take(self, at: float, event: events.Event) -> None:
        self.at = at
        self.watched.take(event)
        match event:
            case events.RunStarted():  # of the next channel, whose builds are others
                self.rates.clear()
            case events.RatesStudied():
                self.rates[event.case, event.failure] = event
            case events.StateKnown(failure=str(failure)):
                self.failures[event.case, event.build] = failure
            case events.TrialFinished():
                self.trials[event.case, event.build] += 1
            case events.Untestable():
                self.reasons[event.build] = event.reason
            case _:
                pass
        line = plain_line(event)
        if line is not None:
            self._add_line(LogLine(at, one_line(clean(line), 300), isinstance(event, _TROUBLE)))

    def _add_line(self, line: LogLine) -> None:
        self.lines.append(line)
        del self.lines[:-MOST_LINES]


def live_view(stored: Iterable[Happened], now: float) -> LiveView:
    """The view of the events of one job, in their order."""
    followed = Followed()
    for one in stored:
        followed.take(one)
    return view_of(followed, now)


def view_of(followed: Followed, now: float) -> LiveView:
    """What is known so far, for the page."""
    studied = tuple(followed.rates.values())
    doing = _doing(followed.watched, now, is_studied=is_unsettled(studied))
    lines = tuple(followed.lines)
    if not followed.watched.questions:
        return LiveView(doing, lines=lines, last=followed.last)
    question = followed.watched.questions[-1]
    report = _sketch(question, followed)
    letters, names = timeline.letters(report), timeline.names(report)
    return LiveView(
        doing=doing,
        picture=Markup(draw(report)),  # noqa: S704  the picture escapes its own texts
        cases=tuple(case_counts(case) for case in report.cases),
        failures=tuple(LiveFailure(letters[id_], names[id_], failure_class(letters, id_)) for id_ in letters),
        left=tuple(_left(question, {one.case for one in studied})),
        rates=live_rates(studied, question.builds, many=_has_many(question)),
        lines=lines,
        last=followed.last,
    )


def remaining(question: Question) -> list[tuple[str, str, str, int]]:
    """(case, last build of one state, first of another, builds between them that were not tried), for each open change."""
    numbers = {build: number for number, build in enumerate(question.builds)}
    found = []
    for case, role in question.cases:
        for first, last in open_ranges(question, case) if role == "test" else ():
            between = question.builds[numbers[first] + 1 : numbers[last]]
            untried = sum((case, build) not in question.states for build in between)
            if untried:
                found.append((case, first, last, untried))
    return found


def _has_many(question: Question) -> bool:
    return sum(role == "test" for _, role in question.cases) > 1


def _left(question: Question, studied: Collection[str]) -> Iterable[str]:
    """What is left of each case but those whose rate is `studied`: there the states of two builds bound nothing."""
    for case, first, last, untried in remaining(question):
        if case not in studied:
            where = f"{case} changes " if _has_many(question) else "It changes "
            yield f"{where}between {first} and {last}: {plural(untried, 'build')} left."


def _doing(watched: Watched, now: float, *, is_studied: bool) -> tuple[str, ...]:
    """What goes on now, and the builds that are left; where a rate `is_studied` trials count, and are told there."""
    if watched.slots:
        doing = [
            f"Slot {name}: {one.what}, {format_duration(max(0.0, now - one.since))}."
            for name, one in watched.slots.items()
        ]
    else:
        limit = f" of at most {format_duration(watched.timeout)}" if watched.timeout else ""
        since = f", for {format_duration(max(0.0, now - watched.since))}{limit}" if watched.since else ""
        doing = [f"{watched.doing[:1].upper()}{watched.doing[1:]}{since}."]
    done, total = download_totals(watched)
    if total and done < total:
        doing.append(f"Downloaded {format_size(done)} of {format_size(total)}.")
    if watched.questions and not is_studied:
        left = f", about {format_duration(watched.seconds_left)}" if watched.seconds_left else ""
        doing.append(
            f"About {plural(watched.steps_left, 'build')} to go{left}." if watched.steps_left else "No build to go."
        )
    return tuple(one_line(clean(text), 300) for text in doing)


def _sketch(question: Question, followed: Followed) -> Report:
    """A report of what is known so far, for the picture."""
    cases = tuple(
        CasePart(
            name=name,
            role="control" if role == "control" else "test",
            command="",
            timeline=tuple(_entries(question, name, followed)),
        )
        for name, role in question.cases
    )
    return Report(
        outcome="unfinished",
        summary=("",),
        spec=SpecPart(name=question.spec, package=question.package, digest=""),
        channel="",
        source="",
        range=Range(first=question.builds[0], last=question.builds[-1]),
        cases=cases,
        failures=(),
        boundaries=tuple(
            dict.fromkeys(Boundary(before=first, after=last) for _, first, last, _ in remaining(question))
        ),
        counts=Counts(builds_considered=len(question.builds), builds_installed=0, trials=0),
        elapsed_s=0.0,
        environment=Machine(platform="", python="", device=question.device),
        repeat="",
        started="",
    )


def _entries(question: Question, case: str, followed: Followed) -> Iterable[Entry]:
    for build in question.builds:
        state = question.states.get((case, build), "not tried")
        failure = followed.failures.get((case, build)) if state in {"failing", "flaky"} else None
        yield Entry(
            build=build,
            date=_date_in(build),
            state=state,
            failure=failure,
            failures=(failure,) if failure else (),
            reason=followed.reasons.get(build) if state == "untestable" else None,
            trials=followed.trials[case, build],
        )


def _date_in(build: str) -> str | None:
    """The day of a nightly, which its version names."""
    found = _NIGHTLY.search(build)
    return "-".join(found.groups()) if found else None


def case_counts(case: CasePart) -> CaseCounts:
    """How many builds of a timeline have which state."""
    counted = Counter(entry.state for entry in case.timeline)
    return CaseCounts(case.name, case.role, tuple(counted[state] for state in COUNTED))
