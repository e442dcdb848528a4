"""Finding the builds of one line on given dates: what the page lists, then what is only hidden.

A page keeps about 60 versions; older wheels stay where they are. Their addresses are built from the tables and asked for, a
sample of the dates first: what is found there narrows the guesses for the others.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from operator import attrgetter
from typing import TypeVar

from packaging.version import Version

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause
from bisect_tool.builds.nightly.choice import Line
from bisect_tool.builds.nightly.files import Files
from bisect_tool.builds.nightly.listed import ListedFacts, best_of, day_of, of_variant, sightings_in
from bisect_tool.builds.nightly.memory import FileFacts
from bisect_tool.builds.nightly.naming import MACHINES, Candidate, Naming, Sighting
from bisect_tool.builds.nightly.pages import ListedFile, Pages
from bisect_tool.builds.nightly.site import Unanswered
from bisect_tool.builds.nightly.tables import Tables

_SAMPLE = 8  # every eighth date is asked for first
_ENOUGH = 4  # a sample of so many dates without a build says that there are none
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
_BY_DAY: Callable[[Sighting], date] = attrgetter("day")


@dataclass(frozen=True, slots=True)
class Found:
    """The builds of a line, oldest first, and the dates without one."""

    builds: tuple[Build, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def days(self) -> list[date]:
        """The dates that have a build, oldest first."""
        return sorted({build.date.date() for build in self.builds if build.date})


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds the builds of `package`."""

    files: Files
    pages: Pages
    tables: Tables
    package: str

    def find(self, line: Line, days: Iterable[date], python: str | None, *, thorough: bool = True) -> Found:
        """The builds of a line on these dates; `python` is noted in each.

        Not `thorough`: where neither the page nor the sample has any, the other dates are not asked for.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`, `CacheBroken`.
        """
        wanted = sorted(set(days))
        listed, gone = self._listed_builds(line, set(wanted), python)
        there = {build.date.date() for build in listed if build.date} | {left.date.date() for left in gone if left.date}
        rest = [day for day in wanted if day not in there]
        naming = Naming(self.tables, self.package, line.variant, line.target)
        sightings = _Sightings(sightings_in(of_variant(self.pages.of(self.package, line.variant), line.variant)))
        thorough = thorough or bool(listed)
        found, unanswered = self._probe(naming, rest, sightings, thorough=thorough) if naming.is_known else ({}, {})
        hidden = [self._hidden(naming, *found[day], python) for day in rest if day in found]
        today = self.files.clock().date()
        left_out = [
            _missing(naming, day, sightings, unanswered.get(day, ""))
            for day in rest
            if day not in found and day < today
        ]
        return Found(_in_order((*listed, *hidden)), _in_order((*gone, *left_out)))

    def newest_listed(self, variant: str) -> date | None:
        """The newest date that the page of a variant lists."""
        return max((day_of(file) for file in of_variant(self.pages.of(self.package, variant), variant)), default=None)

    def _listed_builds(self, line: Line, days: set[date], python: str | None) -> tuple[list[Build], list[LeftOut]]:
        """The builds that the page lists, and the listed files that are not there or cannot be asked for."""
        files = best_of(of_variant(self.pages.of(self.package, line.variant), line.variant), line.target, days)
        facts = ListedFacts(self.files).of(files)
        builds, gone = [], []
        for file in files:
            told = facts[file.location]
            if isinstance(told, FileFacts) and told.there:
                builds.append(self._listed(file, told, python))
            else:
                why = told.reason if isinstance(told, Unanswered) else "the page lists it, but it is not there"
                gone.append(LeftOut(file.name.spelled, file.day, LeftOutBecause.MISSING, why))
        return builds, gone

    def _probe(
        self, naming: Naming, days: Sequence[date], sightings: _Sightings, *, thorough: bool
    ) -> tuple[dict[date, tuple[Candidate, FileFacts]], dict[date, str]]:
        """The hidden builds by date, and why a date could not be asked for."""
        found: dict[date, tuple[Candidate, FileFacts]] = {}
        unanswered: dict[date, str] = {}
        sample = days[::_SAMPLE]
        for wave in (sample, sorted(set(days) - set(sample))):
            if wave is not sample and not found and not thorough and len(sample) >= _ENOUGH:
                break
            tried: set[str] = set()
            pending = {day: _untried(naming, day, sightings, tried) for day in wave}
            while pending := {day: one for day, one in pending.items() if one is not None}:
                tried |= {one.filename for one in pending.values()}
                self._take(naming, pending, found, unanswered)
                for day in pending.keys() & found.keys():
                    sightings.add(Sighting(day, found[day][0].base, found[day][0].platform))
                pending = {day: _untried(naming, day, sightings, tried) for day in pending if day not in found}
        return found, unanswered

    def _take(
        self,
        naming: Naming,
        pending: Mapping[date, Candidate | None],
        found: dict[date, tuple[Candidate, FileFacts]],
        unanswered: dict[date, str],
    ) -> None:
        candidates = {self.files.site.url(naming.variant, one.filename): one for one in pending.values() if one}
        asked = self.files.facts(
            {address: one.day for address, one in candidates.items()},
            f"nightlies of {naming.package} in {naming.variant}",
        )
        for address, facts in asked.items():
            day = candidates[address].day
            if isinstance(facts, Unanswered):
                unanswered[day] = facts.reason
            elif facts.there:
                found[day] = candidates[address], facts

    def _listed(self, file: ListedFile, facts: FileFacts, python: str | None) -> Build:
        return Build(
            package=self.package,
            version=file.name.spelled,
            filename=file.filename,
            location=file.location,
            date=file.day,
            size=facts.size,
            variant=file.variant or file.name.version.local,
            python=python,
            fingerprint=facts.fingerprint,
        )

    def _hidden(self, naming: Naming, one: Candidate, facts: FileFacts, python: str | None) -> Build:
        return Build(
            package=self.package,
            version=one.version,
            filename=one.filename,
            location=self.files.site.url(naming.variant, one.filename),
            date=datetime.combine(one.day, time(), UTC),
            size=facts.size,
            variant=naming.variant,
            python=python,
            hidden=True,
            fingerprint=facts.fingerprint,
        )


class _Sightings:
    """What is known to exist, by date; the nearest before and after a date are what counts."""

    def __init__(self, known: Iterable[Sighting]) -> None:
        self._known = sorted(known, key=_BY_DAY)

    def add(self, sighting: Sighting) -> None:
        bisect.insort(self._known, sighting, key=_BY_DAY)

    def around(self, day: date) -> list[Sighting]:
        after = bisect.bisect_right(self._known, day, key=_BY_DAY)
        return self._known[max(0, after - 1) : after + 1]


def _untried(naming: Naming, day: date, sightings: _Sightings, tried: set[str]) -> Candidate | None:
    candidates = naming.candidates(day, sightings.around(day))
    return next((one for one in candidates if one.filename not in tried), None)


def _missing(naming: Naming, day: date, sightings: _Sightings, detail: str) -> LeftOut:
    base = naming.versions(day, sightings.around(day))[0]
    version = f"{base}.dev{day:%Y%m%d}+{naming.variant}"
    because = LeftOutBecause.MISSING
    if naming.is_known and not naming.platforms(day):
        here = naming.target.tags[0].platform
        all_tags = naming.tables.platforms_of(naming.package, naming.variant, day)
        tags = [tag for tag in all_tags if any(here.endswith(one) and tag.endswith(one) for one in MACHINES)]
        because, detail = LeftOutBecause.NO_WHEEL, f"wheels for {', '.join(tags)}" if tags else ""
    return LeftOut(version, datetime.combine(day, time(), UTC), because, detail)


_Entry = TypeVar("_Entry", Build, LeftOut)


def _in_order(entries: Iterable[_Entry]) -> tuple[_Entry, ...]:
    """By date; the versions of one date in their order."""
    return tuple(sorted(entries, key=lambda entry: (entry.date or _BEGINNING, Version(entry.version))))
