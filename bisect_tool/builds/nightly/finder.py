"""Finding the builds of one line on given dates: what the page lists, then what is only hidden.

A page keeps about 60 versions; older wheels stay where they are. Their addresses are built from the tables and asked for, a
sample of the dates first: what is found there narrows the guesses for the others.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from operator import attrgetter

from packaging.version import Version

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause
from bisect_tool.builds.fitting import Fitting
from bisect_tool.builds.nightly.choice import Line
from bisect_tool.builds.nightly.memory import FileFacts, Memory, fingerprint_of
from bisect_tool.builds.nightly.naming import Candidate, Naming, Sighting
from bisect_tool.builds.nightly.pages import ListedFile, Pages
from bisect_tool.builds.nightly.site import Site, Unanswered
from bisect_tool.builds.nightly.tables import Tables

_SAMPLE = 8  # every eighth date is asked for first
_ENOUGH = 4  # a sample of so many dates without a build says that there are none
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


@dataclass(slots=True)
class Finder:
    """Finds the builds of `package` on a site. `clock` gives the time (UTC, aware); `tell` takes lines about the progress."""

    site: Site
    pages: Pages
    memory: Memory
    tables: Tables
    package: str
    clock: Callable[[], datetime]
    tell: Callable[[str], None] = field(default=lambda _line: None, repr=False)

    def find(self, line: Line, days: Iterable[date], python: str | None, *, thorough: bool = True) -> Found:
        """The builds of a line on these dates; `python` is noted in each.

        Not `thorough`: where neither the page nor the sample has any, the other dates are not asked for.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        wanted = sorted(set(days))
        listed = self._listed_builds(line, set(wanted), python)
        there = {build.date.date() for build in listed if build.date}
        naming = Naming(self.tables, self.package, line.variant, line.target)
        sightings = _Sightings(self._sighted(line))
        rest = [day for day in wanted if day not in there]
        thorough = thorough or bool(listed)
        found, unanswered = self._probe(naming, rest, sightings, thorough=thorough) if naming.is_known else ({}, {})
        hidden = [self._hidden(naming, *found[day], python) for day in rest if day in found]
        today = self.clock().date()
        missing = [
            _missing(naming, day, sightings, unanswered.get(day, ""))
            for day in rest
            if day not in found and day < today
        ]
        builds = sorted((*listed, *hidden), key=lambda build: (build.date, Version(build.version)))
        return Found(tuple(builds), tuple(missing))

    def page(self, variant: str) -> tuple[ListedFile, ...] | None:
        """What the page of a variant lists; None when there is no page."""
        return self.pages.of(self.package, variant)

    def newest_listed(self, variant: str) -> date | None:
        """The newest date that the page of a variant lists."""
        return max((file.day.date() for file in _of_variant(self.page(variant), variant) if file.day), default=None)

    def facts(self, addresses: Mapping[str, date]) -> dict[str, FileFacts | Unanswered]:
        """What is known about files, by address; what is not remembered, or not freshly, is asked for.

        Raises `IndexUnreachable` when too many are not answered.
        """
        now = self.clock()
        kept = self.memory.of(addresses)
        known: dict[str, FileFacts | Unanswered] = {
            address: kept[address].facts
            for address, day in addresses.items()
            if address in kept and kept[address].is_fresh(day, now)
        }
        asked = self.site.ask(address for address in addresses if address not in known)
        self.memory.keep({address: facts for address, facts in asked.items() if isinstance(facts, FileFacts)}, now)
        return {**known, **asked}

    def _listed_builds(self, line: Line, days: set[date], python: str | None) -> list[Build]:
        files = self._best_listed(line, days)
        facts = self._facts_of_listed(files)
        return [self._listed(file, facts[file.location], python) for file in files]

    def _best_listed(self, line: Line, days: set[date]) -> list[ListedFile]:
        """One file for each version of these dates: the one that fits best."""
        fitting = Fitting(line.target)
        groups: dict[Version, dict[str, ListedFile]] = {}
        for file in _of_variant(self.page(line.variant), line.variant):
            if file.day and file.day.date() in days and fitting.takes_python(file.requires_python):
                groups.setdefault(file.name.version, {})[file.filename] = file
        chosen = []
        for group in groups.values():
            best = fitting.best(file.name for file in group.values())
            chosen += [file for file in group.values() if file.name == best][:1]
        return sorted(chosen, key=lambda file: file.name.version)

    def _facts_of_listed(self, files: Sequence[ListedFile]) -> dict[str, FileFacts]:
        """By location. The times of a page are taken when those of its oldest and its newest file prove right."""
        if self._times_are_right(files):
            return self._by_page(files)
        asked = self.facts({self._address(file): _day(file) for file in files})
        elsewhere = {file.location: _day(file) for file in files if not _is_there(asked[self._address(file)])}
        asked |= self.facts(elsewhere)
        answers = {file.location: asked.get(file.location, asked[self._address(file)]) for file in files}
        return {
            place: facts if isinstance(facts, FileFacts) else FileFacts(there=True) for place, facts in answers.items()
        }

    def _times_are_right(self, files: Sequence[ListedFile]) -> bool:
        ends = [file for file in (*files[:1], *files[-1:]) if file.uploaded]
        if len(ends) < 2 or not all(file.uploaded for file in files):
            return False
        asked = self.facts({self._address(file): _day(file) for file in ends})
        told = {self._address(file): fingerprint_of(file.uploaded) for file in ends if file.uploaded}
        return all(
            isinstance(facts, FileFacts) and facts.fingerprint == told[address] for address, facts in asked.items()
        )

    def _by_page(self, files: Sequence[ListedFile]) -> dict[str, FileFacts]:
        """The times that the page gives; the sizes where they are remembered for the same content."""
        kept = self.memory.of(self._address(file) for file in files)
        found = {}
        for file in files:
            known = kept.get(self._address(file))
            size = known.facts.size if known and known.facts.modified == file.uploaded else None
            found[file.location] = FileFacts(there=True, size=size, modified=file.uploaded)
        return found

    def _address(self, file: ListedFile) -> str:
        """Where the file lies on the index itself, whatever host the page points to."""
        return self.site.url(*([file.variant] if file.variant else []), file.filename)

    def _sighted(self, line: Line) -> list[Sighting]:
        files = _of_variant(self.page(line.variant), line.variant)
        dated = [(file.day.date(), Version(file.name.version.base_version)) for file in files if file.day]
        return [Sighting(day, version) for day, version in sorted(set(dated))]

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
                self.tell(f"looking for {naming.package} {naming.variant}: {len(found)} of {len(days)} dates found")
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
        candidates = {self.site.url(naming.variant, one.filename): one for one in pending.values() if one}
        for address, facts in self.facts({address: one.day for address, one in candidates.items()}).items():
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
            location=self.site.url(naming.variant, one.filename),
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
    return LeftOut(version, datetime.combine(day, time(), UTC), LeftOutBecause.MISSING, detail)


def _of_variant(files: Iterable[ListedFile] | None, variant: str) -> list[ListedFile]:
    return [file for file in files or () if (file.variant or file.name.version.local) == variant]


def _day(file: ListedFile) -> date:
    return file.day.date() if file.day else date.min


def _is_there(facts: FileFacts | Unanswered) -> bool:
    return isinstance(facts, FileFacts) and facts.there
