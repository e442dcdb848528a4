"""What nightlies there are and how they behave: the wishes of a test, as one frozen value."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from tests.rig.nightly_index import eras
from tests.rig.toy import Planted
from tests.rig.wheel_maker import WheelFault

DAY = timedelta(days=1)
REAL_FAULTS = frozenset({WheelFault.RAISES_AT_IMPORT, WheelFault.OTHER_VERSION_INSIDE})


@dataclass(frozen=True, slots=True)
class Cut:
    """What a nightly was built from: a commit of the nightly branch, made from a commit of main (40 digits each)."""

    nightly: str
    main: str


@dataclass(frozen=True, slots=True)
class Change:
    """From the commit of `since` on, `case` behaves as `do` (see `tests.rig.toy`), only in `variants` if given."""

    case: str
    since: date
    do: Planted
    variants: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """No nightly from `first` to `last` (left out: that day alone), everywhere or only for what is named."""

    first: date
    last: date | None = None
    variant: str | None = None
    python: str | None = None
    machine: str | None = None

    def covers(self, day: date, variant: str, python: str, machine: str) -> bool:
        """Whether a wheel is missing."""
        pairs = ((self.variant, variant), (self.python, python), (self.machine, machine))
        return self.first <= day <= (self.last or self.first) and all(mine in (None, its) for mine, its in pairs)


@dataclass(frozen=True, slots=True)
class Real:
    """From the commit of `since` on, nightlies are the release in the file `wheel` under another name.

    `edits` are files inside it with other content (None: left out), `requires` the lines that replace its requirements.
    """

    since: date
    wheel: Path
    edits: Mapping[str, bytes | None] = field(default_factory=dict)
    requires: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyPlan:
    """All nightlies from `first` to `last`, both included.

    Of `variants`, `pythons` and `machines` each day has those that its era had. A case passes until its first change.

    `stalls` are stretches of days (first, last) that were all built from the commit of the first of them, `late` days
    on which the build of the day before finished after midnight: the same commits under the next date. `cuts` says it
    exactly, as a git history does; a day that it lacks has no nightly, and equal main commits are a stall. `doubled`
    days were built twice, with the old base version too, as at a bump.

    `dead` days install but do not import; `broken` gives other faults. `build_numbers` are put into file names.
    `bare` wheels require nothing. `vision` adds torchvision, each for the torch of the day before. `ballast` is the size
    in bytes of a library of zeros inside every stand-in, which costs neither memory nor disk. `real` releases take the
    place of the stand-ins; they are for one interpreter, so that `pythons` must name it alone. `picks` says how stable
    releases differ from the nightly at which they were cut: version, then case. `files` are more files in the stand-in
    of a day, such as those of a git tree.
    """

    first: date
    last: date
    variants: tuple[str, ...] = ("cpu",)
    pythons: tuple[str, ...] = ("cp311", "cp312")
    machines: tuple[str, ...] = ("x86_64",)
    seed: int = 0
    changes: tuple[Change, ...] = ()
    missing: tuple[Missing, ...] = ()
    stalls: tuple[tuple[date, date], ...] = ()
    late: Collection[date] = ()
    cuts: Mapping[date, Cut] | None = None
    doubled: Collection[date] = ()
    dead: Collection[date] = ()
    broken: Mapping[date, Collection[WheelFault]] = field(default_factory=dict)
    build_numbers: Mapping[date, str] = field(default_factory=dict)
    bare: bool = False
    vision: bool = False
    ballast: int = 0
    real: tuple[Real, ...] = ()
    picks: Mapping[str, Mapping[str, Planted]] = field(default_factory=dict)
    files: Mapping[date, Mapping[str, str]] = field(default_factory=dict)
    known_gaps: bool = True

    def __post_init__(self) -> None:
        if not eras.EARLIEST <= self.first <= self.last:
            raise ValueError(f"{self.first} to {self.last}: nightlies go from {eras.EARLIEST} on, first before last")
        for variant in self.variants:
            eras.has_variant(self.first, variant)
        for python in self.pythons:
            eras.has_python(self.first, python)
        for machine in self.machines:
            eras.has_machine("cpu", machine)
        for real in self.real:
            if self.pythons != (abi_of(real.wheel),):
                raise ValueError(f"{real.wheel.name} needs pythons=({abi_of(real.wheel)!r},), not {self.pythons}")
        for broken in self.broken.values():
            self.check_faults(broken)

    def days(self) -> Iterator[date]:
        """Every date of the plan, with or without a nightly."""
        return (self.first + DAY * number for number in range((self.last - self.first).days + 1))

    def is_built(self, day: date, variant: str, python: str, machine: str = "x86_64") -> bool:
        """Whether there is a torch nightly of that date for these."""
        in_era = eras.has_variant(day, variant) and eras.has_python(day, python) and eras.has_machine(variant, machine)
        in_plan = self.first <= day <= self.last and variant in self.variants and python in self.pythons
        has_cut = self.cuts is None or day in self.cuts
        return in_era and in_plan and has_cut and not self._is_missing(day, variant, python, machine)

    def _is_missing(self, day: date, variant: str, python: str, machine: str) -> bool:
        gaps = eras.KNOWN_GAPS.get(variant, eras.KNOWN_GAPS[""]) if self.known_gaps else frozenset()
        return day in gaps or any(gap.covers(day, variant, python, machine) for gap in self.missing)

    def cut(self, day: date) -> Cut:
        """What the nightly of a day was built from. Raises `KeyError` for a day that `cuts` lacks."""
        if self.cuts is not None:
            return self.cuts[day]
        built = self._built_of(day)
        return Cut(_revision("nightly", built, self.seed), _revision("main", self._source_by_stalls(built), self.seed))

    def source_day(self, day: date) -> date:
        """The first day whose nightly has the main commit of `day`: what behaves alike has the same source."""
        if self.cuts is None:
            return self._source_by_stalls(self._built_of(day))
        main = self.cuts[day].main
        return min(other for other, cut in self.cuts.items() if cut.main == main)

    def _built_of(self, day: date) -> date:
        while day in self.late:
            day -= DAY
        return day

    def _source_by_stalls(self, day: date) -> date:
        return next((first for first, last in self.stalls if first <= day <= last), day)

    def behaviour(self, day: date, variant: str) -> dict[str, Planted]:
        """What every case does in the nightly of a day."""
        return behaviour_of(self.changes, self.source_day(day), variant)

    def check_faults(self, broken: Collection[WheelFault]) -> None:
        """Raise `ValueError` for faults that real releases cannot be given."""
        if self.real and not set(broken) <= REAL_FAULTS:
            raise ValueError(
                f"a real release cannot be given {sorted(fault.name for fault in set(broken) - REAL_FAULTS)}"
            )

    def real_of(self, day: date) -> Real | None:
        """The release that the nightly of a day is made of."""
        source = self.source_day(day)
        due = sorted((real for real in self.real if real.since <= source), key=lambda real: real.since)
        return due[-1] if due else None

    def faults(self, day: date) -> frozenset[WheelFault]:
        """What is wrong with the wheels of a day."""
        dead = {WheelFault.RAISES_AT_IMPORT} if day in self.dead else set()
        return frozenset(dead | set(self.broken.get(day, ())))


def abi_of(wheel: Path) -> str:
    """The ABI in the file name of a wheel (``cp311``)."""
    return wheel.stem.split("-")[-2]


def behaviour_of(changes: Iterable[Change], source: date, variant: str) -> dict[str, Planted]:
    """What the changes up to the commit of `source` leave behind."""
    due = [change for change in changes if change.since <= source]
    fitting = [change for change in due if change.variants is None or variant in change.variants]
    return {change.case: change.do for change in sorted(fitting, key=lambda change: change.since)}


def _revision(word: str, day: date, seed: int) -> str:
    return hashlib.sha1(f"{seed}:{word}:{day}".encode(), usedforsecurity=False).hexdigest()
