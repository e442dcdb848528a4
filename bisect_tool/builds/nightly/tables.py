"""The tables of `tables.toml` as values: which version, variant, Python and platform a nightly of a date may have.

Nothing here is certain: the tables say where to look. The facts are in `docs/nightlies.md`, with their sources in the file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

FILE = Path(__file__).with_name("tables.toml")
VARIANT = re.compile(r"cpu|xpu|cu\d+|rocm\d+(\.\d+)*")
FAMILY = ("torch", "torchvision", "torchaudio")
_NEVER, _ALWAYS = date.max, date.min


@dataclass(frozen=True, slots=True)
class Span:
    """Dates from `first` to `last`, both included; `date.max` is: until further notice."""

    first: date
    last: date

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last

    def meets(self, other: Span) -> Span | None:
        """The dates that both have."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return Span(first, last) if first <= last else None

    def widened(self, before: timedelta, after: timedelta) -> Span:
        """With so many days more; what is open stays open."""
        return Span(self.first - before, self.last if self.last == _NEVER else self.last + after)

    def days(self) -> list[date]:
        """Every date, oldest first."""
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class VersionRow:
    """Nightlies of `version` begin after `last_before`, at the latest on `first`."""

    version: Version
    last_before: date
    first: date


@dataclass(frozen=True, slots=True)
class Companion:
    """A package built the same day: `release` belongs to torch 2.0.0; its version may be `lag` releases behind."""

    package: str
    release: Version
    lag: int


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A stretch of dates on which a variant is built; `driver` is the least one of Linux, None where none is needed."""

    name: str
    span: Span
    driver: Version | None


@dataclass(frozen=True, slots=True)
class ArchitectureRow:
    """The GPU architectures in wheels of `variants` for a `machine` (`x86_64`): 90 is compute capability 9.0.

    `ptx`: newer ones are served as well.
    """

    variants: tuple[str, ...]
    machine: str
    span: Span
    have: tuple[int, ...]
    ptx: bool


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """A platform tag of `packages` on these dates, for variants that match a pattern."""

    tag: str
    variants: tuple[str, ...]
    packages: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Constraint:
    """What must hold for other packages beside builds of `span`."""

    requirement: str
    span: Span


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables; `before` and `after` say how far outside of a variant's or a Python's dates it is still looked for."""

    begin: date
    pace: timedelta
    before: timedelta
    after: timedelta
    metadata_since: date
    versions: tuple[VersionRow, ...]
    companions: Mapping[str, Companion]
    variants: tuple[VariantRow, ...]
    architectures: tuple[ArchitectureRow, ...]
    pythons: Mapping[str, Span]
    platforms: tuple[PlatformRow, ...]
    constraints: tuple[Constraint, ...]

    def spans_of(self, variant: str) -> tuple[Span, ...]:
        """The stretches of dates of a variant; empty when the table does not know it."""
        return tuple(row.span for row in self.variants if row.name == variant)

    def variants_on(self, days: Span) -> tuple[str, ...]:
        """The variants that are built on any of these dates, each once."""
        return tuple(dict.fromkeys(row.name for row in self.variants if row.span.meets(days)))

    def platforms_of(self, package: str, variant: str, day: date) -> tuple[str, ...]:
        """The platform tags that a wheel of a date may have, most likely first, of all machines."""
        return tuple(
            row.tag
            for row in self.platforms
            if day in row.span and package in row.packages and any(fnmatchcase(variant, one) for one in row.variants)
        )

    def constraints_on(self, day: date) -> tuple[str, ...]:
        """What must hold for other packages beside a build of that date."""
        return tuple(row.requirement for row in self.constraints if day in row.span)


@cache
def read_tables(path: Path = FILE) -> Tables:
    """The tables of a file, which is part of this package."""
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    versions, variants = file["versions"], file["variants"]
    companions = [Companion(row["package"], Version(row["release"]), row["lag"]) for row in file["companion"]]
    return Tables(
        begin=versions["begin"],
        pace=timedelta(days=versions["pace"]),
        before=timedelta(days=variants["before"]),
        after=timedelta(days=variants["after"]),
        metadata_since=file["metadata"]["since"],
        versions=tuple(VersionRow(Version(row["of"]), row["last_before"], row["first"]) for row in versions["row"]),
        companions={companion.package: companion for companion in companions},
        variants=tuple(_variant(row) for row in variants["row"]),
        architectures=tuple(_architectures(row) for row in file["architectures"]),
        pythons={row["abi"]: _built(row) for row in file["python"]},
        platforms=tuple(_platform(row) for row in file["platform"]),
        constraints=tuple(Constraint(row["requirement"], _span(row)) for row in file["constraint"]),
    )


_Row = Mapping[str, Any]


def _built(row: _Row) -> Span:
    return Span(row["first"], row.get("last", _NEVER))


def _span(row: _Row) -> Span:
    return Span(row.get("from", _ALWAYS), row.get("until", _NEVER))


def _variant(row: _Row) -> VariantRow:
    return VariantRow(row["name"], _built(row), Version(row["driver"]) if "driver" in row else None)


def _architectures(row: _Row) -> ArchitectureRow:
    machine = row.get("machine", "x86_64")
    return ArchitectureRow(tuple(row["variants"]), machine, _span(row), tuple(row["have"]), row.get("ptx", False))


def _platform(row: _Row) -> PlatformRow:
    packages: Iterable[str] = row.get("packages", FAMILY)
    return PlatformRow(row["tag"], tuple(row["variants"]), tuple(packages), _span(row))
