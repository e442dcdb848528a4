"""What a new answer to a question says that the one before it did not. Pure.

An answer is compared with the one that it takes the place of: failures that were open and are gone, failures that are new,
ends that lie elsewhere. Where the finest channel of a report is that of commits, which has no newest build to speak of, the
channel before it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter

from bisect_tool.reports.batch.line import ChangePart, line_of, newest_judged
from bisect_tool.reports.part import Part
from bisect_tool.reports.report import Appeared as Beginning
from bisect_tool.reports.report import Entry, Episode, Failure, Kind, Report, Signature
from bisect_tool.reports.report import Fixed as Ending
from bisect_tool.reports.timeline import ids
from bisect_tool.runs.batch.since import COMMITS, become

Pair = tuple[str | None, str | None]


class _About(Part):
    """`failure` is its id in the report, `name` what people call it, `case` the case that shows it."""

    failure: str
    name: str
    case: str


class Fixed(_About):
    """A failure that the newest build had is gone, and the case passes: between `last_with` and `first_without`."""

    event: Literal["failure.fixed"] = "failure.fixed"
    kind: Kind
    last_with: str
    first_without: str

    @property
    def sentence(self) -> str:
        """For people."""
        return f"{self.name} ({self.case}) is fixed in {self.first_without}: {self.last_with} is {_sure(self.kind)} with it"


class Appeared(_About):
    """A failure that the answer before did not have: there since `first_with`; `first_without` when it is gone again."""

    event: Literal["failure.appeared"] = "failure.appeared"
    kind: Kind
    last_without: str | None
    first_with: str
    first_without: str | None = None

    @property
    def sentence(self) -> str:
        """For people."""
        since = f", {self.last_without} is {_sure(self.kind)} without it" if self.last_without else ""
        gone = f"; gone again in {self.first_without}" if self.first_without else ""
        return f"{self.name} ({self.case}) appeared in {self.first_with}{since}{gone}"


class Changed(_About):
    """A failure that the newest build had is gone, but others (`into`: their ids), which may hide it, are in its place."""

    event: Literal["failure.changed"] = "failure.changed"
    into: tuple[str, ...]
    kind: Kind | None = None
    last_with: str | None = None
    first_without: str | None = None

    @property
    def sentence(self) -> str:
        """For people."""
        where = f" in {self.first_without}" if self.first_without else ""
        return f"{self.name} ({self.case}) changed{where} into {', '.join(self.into)}, which may hide it"


class Moved(_About):
    """An end of a stretch of builds with the failure lies elsewhere than the answer before said.

    `was` and `now` are the builds on its two sides, the older one first; None is the edge of the range. `now` is None when
    the stretch is not in the new answer at all. `is_narrower`: it lies inside the end that was named before.
    """

    event: Literal["failure.moved"] = "failure.moved"
    end: Literal["appeared", "fixed"]
    was: Pair
    now: Pair | None
    is_narrower: bool = False

    @property
    def sentence(self) -> str:
        """For people."""
        if self.now is None:
            return f"{self.name} ({self.case}): the stretch that {self.end} {_between(self.was)} was not found again"
        verb = "is narrowed down" if self.is_narrower else "has moved"
        end = "beginning" if self.end == "appeared" else "end"
        return f"{self.name} ({self.case}): its {end} {verb}, from {_between(self.was)} to {_between(self.now)}"


News = Fixed | Appeared | Changed | Moved
EVENTS: tuple[str, ...] = tuple(str(one.model_fields["event"].default) for one in get_args(News))
_ADAPTER: TypeAdapter[tuple[News, ...]] = TypeAdapter(tuple[Annotated[News, Field(discriminator="event")], ...])


def news(old: Report, new: Report) -> tuple[News, ...]:
    """What `new` says that `old`, an earlier answer to the same question, did not: fixes first."""
    before, after = outer(old), outer(new)
    told: list[News] = [one for change in open_failures(before) if (one := _become(change, after)) is not None]
    closed = {(one.case, one.failure) for one in told}
    return (*told, *_appeared(before, after), *_moved(before, after, closed))


def open_failures(report: Report) -> tuple[ChangePart, ...]:
    """The stretches of builds with a failure that reach the newest build that was judged."""
    return line_of(outer(report), name=report.spec.name, folder="", ended="").open_changes


def as_values(told: Sequence[News]) -> list[dict[str, object]]:
    """Plain values, for a database or JSON."""
    return [one.model_dump(mode="json") for one in told]


def from_values(values: object) -> tuple[News, ...]:
    """The inverse of `as_values`. Raises pydantic's `ValidationError`."""
    return _ADAPTER.validate_python(values)


def outer(report: Report) -> Report:
    """The report as its last channel with whole builds has it: what was found among commits is inside one of its ends."""
    stage = next((one for one in reversed(report.stages) if one.channel != COMMITS), None)
    if report.channel != COMMITS or stage is None:
        return report
    known = {(one.case, one.id): one for one in report.failures}
    failures = tuple(
        Failure(id=name, name=_name(known, case.name, name), case=case.name, signature=_signature(known, case.name, name),
                episodes=tuple(_episodes(case.timeline, name)))
        for case in stage.cases for name in dict.fromkeys(chain.from_iterable(map(ids, case.timeline)))
        if case.role == "test"
    )  # fmt: skip
    return report.model_copy(update={"channel": stage.channel, "cases": stage.cases, "failures": failures})


def _name(known: dict[tuple[str, str], Failure], case: str, name: str) -> str:
    return known[case, name].name if (case, name) in known else name


def _signature(known: dict[tuple[str, str], Failure], case: str, name: str) -> Signature:
    return known[case, name].signature if (case, name) in known else Signature(kind="exception", title=name)


def _episodes(timeline: Sequence[Entry], name: str) -> Iterator[Episode]:
    """The stretches of builds with a failure, from a timeline alone: neighbours count as exact."""
    judged = [(place, one) for place, one in enumerate(timeline) if one.state not in {"untestable", "not tried"}]
    having = [number for number, (_, one) in enumerate(judged) if name in ids(one)]
    for first in (one for one in having if one - 1 not in having):
        last = next(one for one in range(first, len(judged)) if one + 1 not in having)
        kinds: list[Kind] = ["open", "open"]
        sides: list[str | None] = [None, None]
        for end, (inner, beyond) in enumerate(((first, first - 1), (last, last + 1))):
            if 0 <= beyond < len(judged):
                kinds[end] = "exact" if abs(judged[inner][0] - judged[beyond][0]) == 1 else "narrowed"
                sides[end] = judged[beyond][1].build
        yield Episode(
            appeared=Beginning(kind=kinds[0], last_without=sides[0], first_with=judged[first][1].build),
            fixed=Ending(kind=kinds[1], last_with=judged[last][1].build, first_without=sides[1]),
        )


def _become(change: ChangePart, report: Report) -> News | None:
    """What is told of a failure that was open; nothing while it is there, or nobody could look."""
    part = become(change, report)
    about = {"failure": change.failure, "name": change.name, "case": change.case}
    ends = {"kind": part.kind, "last_with": part.last_with, "first_without": part.first_without}
    match part.now:
        case "fixed" if part.first_without is not None:
            return Fixed.model_validate({**about, **ends})
        case "changed":
            newest = newest_judged(report, change.case)
            entry = next(one for one in _timeline(report, change.case) if one.build == newest)
            return Changed.model_validate({**about, **ends, "into": ids(entry)})
        case _:
            return None  # one that was not seen again at all is told by `_moved`


def _appeared(old: Report, new: Report) -> Iterator[Appeared]:
    for failure in new.failures:
        earlier = _earlier(old, failure)
        for episode in failure.episodes:
            if any(_is_same(one, episode, _places(new, failure.case)) for one in earlier):
                continue
            yield Appeared(
                failure=failure.id,
                name=failure.name,
                case=failure.case,
                kind=episode.appeared.kind,
                last_without=episode.appeared.last_without,
                first_with=episode.appeared.first_with,
                first_without=episode.fixed.first_without,
            )


def _moved(old: Report, new: Report, closed: set[tuple[str, str]]) -> Iterator[Moved]:
    for failure in old.failures:
        places = _places(new, failure.case)
        for number, was in enumerate(failure.episodes):
            now = next((one for one in _earlier(new, failure) if _is_same(was, one, places)), None)
            is_told = (failure.case, failure.id) in closed and number == len(failure.episodes) - 1
            yield from _ends(failure, was, now, places, told=is_told)


def _ends(
    failure: Failure, was: Episode, now: Episode | None, places: dict[str, int], *, told: bool
) -> Iterator[Moved]:
    """The ends of one stretch that lie elsewhere; `told`: that it has come to its end is told already."""
    about = {"failure": failure.id, "name": failure.name, "case": failure.case}
    if now is None:
        if not told:
            yield Moved.model_validate({**about, "end": "appeared", "was": _begin(was), "now": None})
        return
    ends: tuple[tuple[str, Pair, Pair], ...] = (("appeared", _begin(was), _begin(now)),)
    if was.fixed.kind != "open":  # else it is open still, or its fix is told
        ends = (*ends, ("fixed", _finish(was), _finish(now)))
    for end, before, after in ends:
        if before != after:
            is_narrower = _is_inside(after, before, places)
            yield Moved.model_validate({**about, "end": end, "was": before, "now": after, "is_narrower": is_narrower})


def _earlier(report: Report, failure: Failure) -> tuple[Episode, ...]:
    """The stretches that a report has of the same failure."""
    same = (one for one in report.failures if (one.case, one.id) == (failure.case, failure.id))
    return next((one.episodes for one in same), ())


def _is_same(old: Episode, new: Episode, places: dict[str, int]) -> bool:
    """Whether two stretches share a build; those that the new listing does not have any more count by their names."""
    if old.appeared.first_with == new.appeared.first_with or old.fixed.last_with == new.fixed.last_with:
        return True
    first, last = places[new.appeared.first_with], places[new.fixed.last_with]
    begun, ended = places.get(old.appeared.first_with), places.get(old.fixed.last_with)
    if begun is None or ended is None:
        return any(first <= one <= last for one in (begun, ended) if one is not None)
    return begun <= last and first <= ended


def _is_inside(inner: Pair, outer: Pair, places: dict[str, int]) -> bool:
    least, most = (places.get(one or "") for one in inner)
    low = -1 if outer[0] is None else places.get(outer[0])
    high = len(places) if outer[1] is None else places.get(outer[1])
    return (
        least is not None and most is not None and low is not None and high is not None and low <= least < most <= high
    )


def _timeline(report: Report, case: str) -> tuple[Entry, ...]:
    return next((one.timeline for one in report.cases if one.name == case), ())


def _places(report: Report, case: str) -> dict[str, int]:
    return {one.build: number for number, one in enumerate(_timeline(report, case))}


def _begin(episode: Episode) -> Pair:
    return episode.appeared.last_without, episode.appeared.first_with


def _finish(episode: Episode) -> Pair:
    return episode.fixed.last_with, episode.fixed.first_without


def _between(pair: Pair) -> str:
    return f"between {pair[0] or 'the edge of the range'} and {pair[1] or 'the edge of the range'}"


def _sure(kind: Kind) -> str:
    return "the last build" if kind == "exact" else "the last one known"
