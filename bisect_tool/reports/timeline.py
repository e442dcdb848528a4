"""A timeline told in stretches: neighbouring builds of one state become one stretch. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase

from bisect_tool.reports.report import Entry, Report, State

PASS, FLAKY, UNTESTABLE, NOT_TRIED = "✓", "~", "?", "·"
MANY = "*"  # the letter of every failure after the twenty-sixth


@dataclass(frozen=True, slots=True)
class Stretch:
    """Builds `start` to `end` (indices, both included) of one state; `tried` of them were tried.

    `failures` are ids, the first one decides the letter. `flaky` holds the smallest and the largest share of failed
    trials. Builds that were not tried belong to a stretch when the tried builds on both sides of them agree.
    """

    start: int
    end: int
    first: str
    last: str
    state: State
    failures: tuple[str, ...] = ()
    tried: int = 0
    flaky: tuple[float, float] | None = None

    @property
    def builds(self) -> int:
        """How many builds, tried or not."""
        return self.end - self.start + 1


def stretches(timeline: Sequence[Entry]) -> tuple[Stretch, ...]:
    """`timeline` in order, every build in exactly one stretch; no two neighbouring stretches are alike."""
    joined: list[_Run] = []
    for run in _runs(timeline):
        if len(joined) > 1 and joined[-1].kind[0] == "not tried" and joined[-2].kind == run.kind:
            joined.pop()
            joined[-1] = _Run(run.kind, joined[-1].start, run.end, joined[-1].tried + run.tried)
        else:
            joined.append(run)
    return tuple(_stretch(timeline, run) for run in joined)


def symbol(state: State, failures: Sequence[str], letters: dict[str, str]) -> str:
    """One character for a state, readable without colour."""
    match state:
        case "pass":
            return PASS
        case "failing":
            return letters.get(failures[0], MANY) if failures else MANY
        case "flaky":
            return FLAKY
        case "untestable":
            return UNTESTABLE
        case "not tried":
            return NOT_TRIED


def strip(timeline: Iterable[Entry], letters: dict[str, str]) -> str:
    """One symbol for each build."""
    return "".join(symbol(entry.state, ids(entry), letters) for entry in timeline)


def ids(entry: Entry) -> tuple[str, ...]:
    """The failures of `entry`, the first one first."""
    if entry.failures:
        return entry.failures
    return (entry.failure,) if entry.failure else ()


def letters(report: Report) -> dict[str, str]:
    """A letter for each failure id, in the order of `report.failures`, then of first appearance in the timelines."""
    known = [failure.id for failure in report.failures]
    order = list(dict.fromkeys((*known, *_seen(report))))
    return {name: ascii_uppercase[i] if i < len(ascii_uppercase) else MANY for i, name in enumerate(order)}


def names(report: Report) -> dict[str, str]:
    """How each failure id is called; an id without an entry in `report.failures` is called by itself."""
    return {name: name for name in _seen(report)} | {failure.id: failure.name for failure in report.failures}


def _seen(report: Report) -> Iterator[str]:
    """The failures in the timelines, one after the other."""
    for case in report.cases:
        for entry in case.timeline:
            if entry.failures or entry.failure:  # which few of hundreds have
                yield from ids(entry)


def _kind(entry: Entry) -> tuple[State, tuple[str, ...]]:
    return (entry.state, ids(entry))


@dataclass(frozen=True, slots=True)
class _Run:
    """Entries `start` to `end` of one kind, or, joined, with others that were not tried between."""

    kind: tuple[State, tuple[str, ...]]
    start: int
    end: int
    tried: int


def _runs(timeline: Sequence[Entry]) -> Iterator[_Run]:
    kinds = [_kind(entry) for entry in timeline]
    starts = [index for index, kind in enumerate(kinds) if index == 0 or kind != kinds[index - 1]]
    for start, stop in pairwise([*starts, len(kinds)]):
        yield _Run(kinds[start], start, stop - 1, 0 if kinds[start][0] == "not tried" else stop - start)


def _stretch(timeline: Sequence[Entry], run: _Run) -> Stretch:
    first = timeline[run.start]
    own = timeline[run.start : run.end + 1] if first.state == "flaky" else ()
    rates = [entry.rate for entry in own if entry.rate is not None]
    return Stretch(
        start=run.start,
        end=run.end,
        first=first.build,
        last=timeline[run.end].build,
        state=first.state,
        failures=run.kind[1],
        tried=run.tried,
        flaky=(min(rates), max(rates)) if rates else None,
    )
