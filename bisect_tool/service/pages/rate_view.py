"""Where the rate of a failure changes that comes and goes, as it is believed while the run is under way. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bisect_tool.quantities import format_duration
from bisect_tool.reports import chances_picture
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.events import RatesStudied
from bisect_tool.reports.rates import LEAST_SHOWN, Chance, Rate, RateStudy, lines_of, share
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.study_stand import SideRate, StudyStand

MOST_TEXT = 300
MOST_FACT = 1500  # characters: six builds may be named, and their names may be long
LIKELY = 0.95  # chance of the range that is named
ENDS = "Both ends are run in turn until it is clear whether the failure shows there at different rates."


@dataclass(frozen=True, slots=True)
class LiveStudy:
    """One study: `facts` are (label, text), `left` what is still to be done, `picture` SVG, empty where nothing is known."""

    facts: tuple[tuple[str, str], ...]
    picture: Markup
    left: str


@dataclass(frozen=True, slots=True)
class LiveRate:
    """A failure that comes and goes; `told` names it, and its case where there are several."""

    told: str
    studies: tuple[LiveStudy, ...]


def live_rates(studied: Sequence[RatesStudied], builds: Sequence[str], *, many: bool) -> tuple[LiveRate, ...]:
    """What is believed of each failure; `builds` are those of the run, `many`: there is more than one case."""
    return tuple(LiveRate(_told(one, many=many), tuple(_studies(one, builds))) for one in studied)


def is_unsettled(studied: Sequence[RatesStudied]) -> bool:
    """Whether trials are still made for the rate of any failure."""
    return any(stand.verdict == "unfinished" for one in studied for stand in one.studies)


def _told(one: RatesStudied, *, many: bool) -> str:
    return one_line(clean(f"{one.failure} ({one.case})" if many else one.failure), MOST_TEXT)


def _studies(one: RatesStudied, builds: Sequence[str]) -> Iterator[LiveStudy]:
    for stand in one.studies:
        if not _fits(stand, builds):  # told by another version, or damaged
            continue
        study = study_of(stand, builds)
        picture = Markup(chances_picture.draw(study))  # noqa: S704  the picture escapes its own texts
        yield LiveStudy(tuple(_facts(study)), picture, _left(stand))


def _fits(stand: StudyStand, builds: Sequence[str]) -> bool:
    places = [place for place in (stand.before, stand.after) if place is not None]
    is_within = 0 <= stand.first < stand.last < len(builds) and all(stand.first <= at <= stand.last for at in places)
    return is_within and len(stand.chances) in {0, stand.last - stand.first}


def study_of(stand: StudyStand, builds: Sequence[str]) -> RateStudy:
    """The same as a report says it."""
    told = builds[stand.first + 1 : stand.last + 1]
    return RateStudy(
        first=builds[stand.first],
        last=builds[stand.last],
        verdict=stand.verdict,
        before=None if stand.before is None else builds[stand.before],
        after=None if stand.after is None else builds[stand.after],
        confidence=stand.confidence,
        older=_rate(stand.older),
        newer=_rate(stand.newer),
        trials=stand.trials,
        chances=tuple(Chance(build=build, chance=chance) for build, chance in zip(told, stand.chances, strict=False)),
    )


def _rate(side: SideRate) -> Rate:
    return Rate(shown=side.shown, trials=side.trials, low=side.low, high=side.high)


def _facts(study: RateStudy) -> Iterator[tuple[str, str]]:
    for label, text in lines_of(study):
        yield label, one_line(clean(text), MOST_FACT)
    if study.verdict != "unfinished" or not study.chances:
        return
    if (within := likely_range(study)) is not None:
        before, after = within
        yield "most likely", one_line(clean(f"after {before}, with {after} at the latest ({share(LIKELY)})"), MOST_FACT)
    nothing = 1 - sum(one.chance for one in study.chances)
    if nothing >= LEAST_SHOWN:
        yield "no change", share(nothing)


def likely_range(study: RateStudy) -> tuple[str, str] | None:
    """The shortest stretch that has the change with `LIKELY`: the build before it and its last; None when it has none."""
    names = (study.first, *(one.build for one in study.chances))
    sums = [0.0]
    for one in study.chances:
        sums.append(sums[-1] + one.chance)
    best, low = None, 0
    for high in range(1, len(sums)):
        while sums[high] - sums[low + 1] >= LIKELY and low + 1 < high:
            low += 1
        if sums[high] - sums[low] >= LIKELY and (best is None or high - low < best[1] - best[0]):
            best = (low, high)
    return None if best is None else (names[best[0]], names[best[1]])


def _left(stand: StudyStand) -> str:
    if stand.verdict != "unfinished":
        return ""
    if not stand.chances:
        return ENDS
    if stand.trials_left is None:
        return ""
    seconds = f", about {format_duration(stand.seconds_left)}" if stand.seconds_left else ""
    return f"About {plural(rounded(stand.trials_left), 'trial')} to go{seconds}."


def rounded(count: int) -> int:
    """An estimate with as many digits as it deserves: 7, 40, 130."""
    return count if count < 20 else round(count, -1)
