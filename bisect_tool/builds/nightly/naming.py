"""What the wheel of a date may be called: version by date, platform tag by era.

`https://.../{variant}/torch-{X.Y.0}.dev{YYYYMMDD}%2B{variant}-{cpXY}-{cpXY[t]}-{platform}.whl`: see `docs/nightlies.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds.build import Target
from bisect_tool.builds.fitting import Fitting, read_wheel_name
from bisect_tool.builds.nightly.tables import Companion, Tables

MACHINES = ("x86_64", "aarch64")  # for which nightlies are built on Linux; they end the platform tags


@dataclass(frozen=True, slots=True)
class Sighting:
    """A nightly that is known to exist: its date, its base version (`2.12.0`) and, where it matters, its platform tag."""

    day: date
    version: Version
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that a wheel of `day` may have. `version` has the local label (`2.12.0.dev20260301+cu130`)."""

    day: date
    base: Version
    platform: str
    version: str
    filename: str


@dataclass(frozen=True)
class Naming:
    """The names of the wheels of a package in one variant, for the Python and the machine of `target`."""

    tables: Tables
    package: str
    variant: str
    target: Target

    @property
    def is_known(self) -> bool:
        """Whether it is known how the versions of the package follow the dates."""
        return self.package == "torch" or self.package in self.tables.companions

    def candidates(self, day: date, sightings: Iterable[Sighting] = ()) -> tuple[Candidate, ...]:
        """The names to look for, most likely first; what was sighted before and after narrows the versions."""
        seen = sorted(sightings, key=lambda sighting: abs((sighting.day - day).days))
        near = seen[0].platform if seen else ""
        platforms = sorted(self.platforms(day), key=lambda tag: tag != near)
        versions = self.versions(day, seen)
        return tuple(self._candidate(day, version, tag) for version in versions for tag in platforms)

    def versions(self, day: date, sightings: Iterable[Sighting] = ()) -> tuple[Version, ...]:
        """The base versions that a nightly of a date may have, most likely first."""
        seen = list(sightings)
        low = max((one.version for one in seen if one.day <= day), default=None)
        high = min((one.version for one in seen if one.day >= day), default=None)
        possible = self._by_table(day)
        if self.package == "torch" and day > self.tables.versions[-1].first:
            possible += _between(low or possible[0], high)  # the table may lack the newest ones
        narrowed = [one for one in possible if (low is None or one >= low) and (high is None or one <= high)]
        return tuple(dict.fromkeys(narrowed or [*_between(low, high), *possible]))

    def _by_table(self, day: date) -> list[Version]:
        companion = self.tables.companions.get(self.package)
        torch = torch_versions(self.tables, day)
        if companion is None:
            return torch
        return [_beside(companion, version, lag) for lag in range(companion.lag + 1) for version in torch]

    def platforms(self, day: date) -> list[str]:
        """The platform tags of a date that fit this machine, most likely first."""
        tags = self.tables.platforms_of(self.package, self.variant, day)
        return [tag for tag in dict.fromkeys(tags) if self._fits(tag)]

    def _fits(self, platform: str) -> bool:
        name = read_wheel_name(self._filename("1.0", platform))
        return name is not None and self._fitting.rank(name) is not None

    @cached_property
    def _fitting(self) -> Fitting:
        return Fitting(self.target)

    def _candidate(self, day: date, base: Version, platform: str) -> Candidate:
        version = f"{base}.dev{day:%Y%m%d}+{self.variant}"
        return Candidate(day, base, platform, version, self._filename(version, platform))

    def _filename(self, version: str, platform: str) -> str:
        return wheel_filename(self.package, version, self.target, platform)


def wheel_filename(package: str, version: str, target: Target, platform: str) -> str:
    """The name of a wheel for the interpreter of `target`."""
    first = target.tags[0]
    name = canonicalize_name(package).replace("-", "_")
    return f"{name}-{version}-{first.interpreter}-{first.abi}-{platform}.whl"


def torch_versions(tables: Tables, day: date) -> list[Version]:
    """The base versions that a torch nightly of a date may have by the table alone, most likely first."""
    rows = tables.versions
    sure = [row.version for row in rows if row.first <= day]
    possible = [row.version for row in rows if row.last_before < day < row.first]
    newest = rows[-1]
    if not possible and sure and sure[-1] == newest.version:
        steps = min(3, (day - newest.first) // tables.pace)
        possible = [_next(newest.version, step) for step in range(1, steps + 1)]
    return [*sure[-1:], *possible] or [rows[0].version]


def torch_span(tables: Tables, minor: Version) -> tuple[date, date] | None:
    """The first and the last date on which a torch nightly may have the base version; None: the table does not know it."""
    rows = tables.versions
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if row.version == minor:
            return row.last_before, following.first if following else date.max
    return None


def _between(low: Version | None, high: Version | None) -> list[Version]:
    """The versions from one sighting to another, both included."""
    if low is None or high is None or low.major != high.major:
        return [one for one in (low, high) if one is not None]
    return [_next(low, step) for step in range(high.minor - low.minor + 1)]


def _beside(companion: Companion, torch: Version, lag: int) -> Version:
    return _next(companion.release, max(0, torch.minor - lag))


def _next(version: Version, steps: int) -> Version:
    return Version(f"{version.major}.{version.minor + steps}.0")
