"""Every wheel of the index by its place, and which of them are listed. No wheel is made here."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from packaging.version import Version

from tests.rig.nightly_index import eras, triton_pins
from tests.rig.nightly_index.plan import DAY, NightlyPlan
from tests.rig.wheel_maker import escaped, wheel_filename

PREFIX = "whl/nightly"
KEPT = 60  # distinct versions of a package that stay listed (section 1.3)
FIRST_UPLOAD = time(9, 30)  # two hours after the cut at 07:30 UTC
UPLOAD_MINUTES = 240
VISION_MANYLINUX = date(2025, 4, 20)
VISION_LAG = timedelta(days=10)  # after torch's bump; they never bump on the same day (section 1.5)
_SYMPY = (("1.12", date(2023, 5, 12)), ("1.13.1", date(2024, 7, 20)), ("1.13.3", date(2024, 9, 20)))
_PIN_LIFE = timedelta(days=45)
_DATE = re.compile(r"\.dev(\d{4})(\d\d)(\d\d)")


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of the index; `folder` is its variant's, empty for a wheel at the root of the nightlies.

    `day` is the date in its version, or that of the pin, and `uploaded` in UTC.
    """

    package: str
    version: str
    tag: str
    folder: str
    day: date
    build_number: str | None = None
    minutes: int | None = None

    @property
    def filename(self) -> str:
        """Its name, with ``+``."""
        return wheel_filename(self.package, self.version, self.tag, self.build_number)

    @property
    def key(self) -> str:
        """Its path on the host, with ``+`` and without a slash in front."""
        return "/".join(part for part in (PREFIX, self.folder, self.filename) if part)

    @property
    def uploaded(self) -> datetime:
        """When it came to the index."""
        minutes = zlib.crc32(self.key.encode()) % UPLOAD_MINUTES if self.minutes is None else self.minutes
        return datetime.combine(self.day, FIRST_UPLOAD, UTC) + timedelta(minutes=minutes)

    @property
    def listed_version(self) -> str:
        """What counts as one of the 60: the version without its local part, which the index strips first."""
        return self.version.partition("+")[0]


@dataclass(slots=True)
class Catalogue:
    """All wheels of a plan."""

    plan: NightlyPlan
    days: dict[date, dict[str, Wheel]] = field(default_factory=dict)
    roots: dict[str, Wheel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.roots = {wheel.key: wheel for wheel in _root_wheels(self.plan)}

    def of_day(self, day: date) -> dict[str, Wheel]:
        """The wheels with that date in their version, by key."""
        if day not in self.days:
            self.days[day] = {wheel.key: wheel for wheel in _wheels_of(self.plan, day)}
        return self.days[day]

    def find(self, key: str) -> Wheel | None:
        """The wheel at a path."""
        dated = _DATE.search(key)
        if not dated:
            return self.roots.get(key)
        try:
            day = date(*(int(part) for part in dated.groups()))
        except ValueError:
            return None
        return self.of_day(day).get(key) if self.plan.first <= day <= self.plan.last else None

    def packages(self, folder: str, now: datetime) -> tuple[str, ...]:
        """The distributions with a page for a variant (empty: for all), by name."""
        names = ["torch", "torchvision"] if self.plan.vision else ["torch"]
        roots = sorted({wheel.package for wheel in self.roots.values()})
        return tuple(sorted(name for name in (*names, *roots) if self.listed(name, folder, now)))

    def listed(self, package: str, folder: str, now: datetime) -> tuple[Wheel, ...]:
        """What the page of a package lists at a moment: the wheels of a variant and all those at the root.

        The newest `KEPT` versions count over all variants, so that a variant that ended leaves the pages by and by.
        """
        shown = (wheel for wheel in self._newest(package, now) if wheel.folder in {"", folder} or not folder)
        return tuple(sorted(shown, key=lambda wheel: wheel.key.replace("+", "%2B")))

    def _newest(self, package: str, now: datetime) -> list[Wheel]:
        found: list[Wheel] = []
        versions: set[str] = set()
        for group in self._newest_first(package, now):
            for version in sorted({wheel.listed_version for wheel in group}, key=Version, reverse=True):
                if len(versions | {version}) > KEPT:
                    return found
                versions.add(version)
                found += [wheel for wheel in group if wheel.listed_version == version]
        return found

    def _newest_first(self, package: str, now: datetime) -> Iterator[list[Wheel]]:
        """The wheels that are there at a moment, in groups of falling versions."""
        roots = [wheel for wheel in self.roots.values() if wheel.package == package and wheel.uploaded <= now]
        if roots:
            yield roots
            return
        day = min(now.date(), self.plan.last)
        while day >= self.plan.first:
            there = [w for w in self.of_day(day).values() if w.package == package and w.uploaded <= now]
            if there:
                yield there
            day -= DAY


def _wheels_of(plan: NightlyPlan, day: date) -> Iterator[Wheel]:
    versions = [eras.base_version(day, plan.seed)]
    if day in plan.doubled:
        versions.append(eras.version_before(day, plan.seed))
    for variant, python, machine in _matrix(plan, day):
        for base in versions:
            yield torch_wheel(plan, base, day, variant, python, machine)
        if plan.vision and machine == "x86_64":
            yield _vision_wheel(plan, day, variant, python)


def _matrix(plan: NightlyPlan, day: date) -> Iterable[tuple[str, str, str]]:
    return (
        (variant, python, machine)
        for variant in plan.variants
        for python in plan.pythons
        for machine in plan.machines
        if plan.is_built(day, variant, python, machine)
    )


def torch_wheel(plan: NightlyPlan, base: str, day: date, variant: str, python: str, machine: str) -> Wheel:
    """The torch wheel of a day, built or not. Those for macOS have no local version and no ABI in their names."""
    python_tag = f"{python.removesuffix('t')}-none" if machine == "macos" else eras.python_tag(python)
    tag = f"{python_tag}-{eras.torch_platform(day, variant, machine, plan.seed)}"
    version = f"{base}.dev{day:%Y%m%d}" + ("" if machine == "macos" else f"+{variant}")
    return Wheel("torch", version, tag, variant, day, plan.build_numbers.get(day))


def vision_version(day: date, seed: int) -> str:
    """The version of torchvision in the nightlies of a day, which follows torch's some days later (section 1.5)."""
    lagging = max(eras.EARLIEST, day - VISION_LAG)
    return f"0.{eras.minor(eras.base_version(lagging, seed)) + 15}.0.dev{day:%Y%m%d}"


def _vision_wheel(plan: NightlyPlan, day: date, variant: str, python: str) -> Wheel:
    platform = "manylinux_2_28_x86_64" if day >= VISION_MANYLINUX else "linux_x86_64"
    tag = f"{eras.python_tag(python)}-{platform}"
    return Wheel("torchvision", f"{vision_version(day, plan.seed)}+{variant}", tag, variant, day)


def _root_wheels(plan: NightlyPlan) -> Iterator[Wheel]:
    """Triton in every pin that the plan reaches, and sympy (section 1.1)."""
    for version, day in _SYMPY:
        yield Wheel("sympy", version, "py3-none-any", "", day)
    for pin in triton_pins.pins(plan.seed):
        for name in {triton_pins.triton_name(pin.since, variant) for variant in plan.variants if variant != "cpu"}:
            yield from _triton_wheels(plan, name, pin)
        if pin.since < triton_pins.RENAMED:  # the first day under the new name still has the old pin
            yield from _triton_wheels_after_renaming(plan, pin)


def _triton_wheels(plan: NightlyPlan, name: str, pin: triton_pins.TritonPin) -> Iterator[Wheel]:
    for python in plan.pythons:
        added = min(
            pin.since + _PIN_LIFE, max(pin.since, eras.PYTHONS[python].first)
        )  # it may come during a pin's life
        if eras.has_python(added, python) and pin.since <= plan.last:
            tag = f"{eras.python_tag(python)}-{triton_pins.triton_platform(pin.since)}"
            yield Wheel(escaped(name), pin.version, tag, "", pin.since, minutes=-60)


def _triton_wheels_after_renaming(plan: NightlyPlan, pin: triton_pins.TritonPin) -> Iterator[Wheel]:
    if pin != triton_pins.pin_of(triton_pins.RENAMED, plan.seed):
        return
    for name in {triton_pins.triton_name(triton_pins.RENAMED, v) for v in plan.variants if v != "cpu"}:
        for wheel in _triton_wheels(plan, name, pin):
            yield Wheel(wheel.package, wheel.version, wheel.tag, "", triton_pins.RENAMED, minutes=-60)
