"""What nightlies were called when: versions, platform tags, variants, Python versions.

Every table is from the facts page on PyTorch nightlies, whose sections are named at each. A true switch that is only
known to lie between two dates is drawn from the seed, so that tests meet both sides of each seam.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Bump:
    """A new base version: the last nightly seen with the old one and the first seen with this one."""

    version: str
    last_old: date
    first_new: date


@dataclass(frozen=True, slots=True)
class Window:
    """From `first` up to but without `end` (None: still there)."""

    first: date
    end: date | None = None

    def has(self, day: date) -> bool:
        """Whether `day` lies inside."""
        return self.first <= day and (self.end is None or day < self.end)


EARLIEST = date(2023, 4, 1)  # before that, the facts page dates no version
FIRST_VERSION = "2.1.0"


def _day(number: int) -> date:
    return date(number // 10000, number // 100 % 100, number % 100)


# Section 1.5.
BUMPS = tuple(
    Bump(version, _day(last_old), _day(first_new))
    for version, last_old, first_new in (
        ("2.2.0", 20230905, 20230907),
        ("2.3.0", 20231129, 20231214),
        ("2.4.0", 20240312, 20240317),
        ("2.5.0", 20240507, 20240613),
        ("2.6.0", 20240912, 20240916),
        ("2.7.0", 20250104, 20250105),
        ("2.8.0", 20250311, 20250314),
        ("2.9.0", 20250627, 20250629),
        ("2.10.0", 20250909, 20250910),
        ("2.11.0", 20251213, 20251214),
        ("2.12.0", 20260215, 20260217),
        ("2.13.0", 20260415, 20260417),
        ("2.14.0", 20260611, 20260612),
        ("2.15.0", 20260811, 20260812),
        ("2.16.0", 20261005, 20261006),
    )
)


@lru_cache(maxsize=512)
def switch_day(bump: Bump, seed: int) -> date:
    """The day of the first nightly with the new version."""
    days = (bump.first_new - bump.last_old).days
    return bump.last_old + timedelta(random.Random(f"{seed}:{bump.version}").randint(1, days))


def base_version(day: date, seed: int) -> str:
    """The base version of the nightly of a day (``2.16.0``).

    Raises `ValueError` for a day that the table does not reach.
    """
    if day < EARLIEST:
        raise ValueError(f"{day}: the table of versions begins at {EARLIEST}")
    return next((bump.version for bump in reversed(BUMPS) if switch_day(bump, seed) <= day), FIRST_VERSION)


def version_before(day: date, seed: int) -> str:
    """The base version that was in use before the newest switch up to `day`."""
    passed = [bump.version for bump in BUMPS if switch_day(bump, seed) <= day]
    return passed[-2] if len(passed) > 1 else FIRST_VERSION


def minor(version: str) -> int:
    """The second number of a version (``2.16.0`` gives 16)."""
    return int(version.split(".")[1])


_MANYLINUX_CU126 = (date(2024, 12, 4), date(2024, 12, 5))
_MANYLINUX_OTHERS = date(2024, 12, 19)
_MANYLINUX_XPU = date(2025, 6, 1)  # linux_x86_64 till at least 2025-05; the day itself is not established
_AARCH64_LINUX = date(2025, 1, 2)  # not established; between 2024-11 and 2025-12
_AARCH64_MANYLINUX = date(2025, 12, 12)


MACHINES = ("x86_64", "aarch64", "windows", "macos")
_OTHER_SYSTEMS = {"windows": "win_amd64", "macos": "macosx_11_0_arm64"}


def has_machine(variant: str, machine: str) -> bool:
    """Whether a variant is built for a machine. Raises `ValueError` for one that is not of `MACHINES`."""
    match machine:
        case "x86_64":
            return True
        case "aarch64":
            return variant == "cpu" or (variant >= "cu126" and variant.startswith("cu"))
        case "windows":
            return (variant.startswith("cu") and variant != "cu134") or variant in {"cpu", "xpu"}
        case "macos":
            return variant == "cpu"
        case _:
            raise ValueError(f"{machine}: no such machine; known are {', '.join(MACHINES)}")


def torch_platform(day: date, variant: str, machine: str, seed: int) -> str:
    """The platform tag of a torch wheel (section 1.4); `machine` is one of `MACHINES`."""
    if machine in _OTHER_SYSTEMS:
        return _OTHER_SYSTEMS[machine]
    if machine == "aarch64":
        old = "manylinux_2_17_aarch64.manylinux2014_aarch64" if day < _AARCH64_LINUX else "linux_aarch64"
        return old if day < _AARCH64_MANYLINUX else "manylinux_2_28_aarch64"
    since = _MANYLINUX_OTHERS
    if variant == "cu126":
        since = random.Random(f"{seed}:manylinux").choice(_MANYLINUX_CU126)
    elif variant == "xpu":
        since = _MANYLINUX_XPU
    return f"{'linux' if day < since else 'manylinux_2_28'}_{machine}"


def _windows(*pairs: tuple[int, int | None]) -> tuple[Window, ...]:
    return tuple(Window(_day(first), _day(end) if end else None) for first, end in pairs)


# Section 1.6: the matrix of the domain libraries, widened where a torch nightly was seen outside it.
VARIANTS: dict[str, tuple[Window, ...]] = {
    "cpu": _windows((20230101, None)),
    "xpu": _windows((20241001, None)),
    "cu117": _windows((20230101, 20230523)),
    "cu118": _windows((20230104, 20250609)),
    "cu121": _windows((20230428, 20241113)),
    "cu124": _windows((20240501, 20250311)),
    "cu126": _windows((20241115, 20261006)),  # "removal proposed for 2.15", last seen 2026-09-07: the end is a guess
    "cu128": _windows((20250130, 20260407)),
    "cu129": _windows((20250612, 20250902), (20251015, 20260402)),
    "cu130": _windows((20250825, None)),
    "cu132": _windows((20260401, None)),
    "cu134": _windows((20260810, None)),
    "rocm5.7": _windows((20231001, 20240501)),
    "rocm6.0": _windows((20240201, 20240801)),
    "rocm6.1": _windows((20240501, 20241201)),
    "rocm6.2": _windows((20240801, 20241201)),
    "rocm6.2.4": _windows((20241201, 20250430)),
    "rocm6.3": _windows((20241226, 20250929)),
    "rocm6.4": _windows((20250430, 20251113)),
    "rocm7.0": _windows((20250929, 20260216)),
    "rocm7.1": _windows((20251113, 20260329), (20260409, 20260807)),
    "rocm7.2": _windows((20260216, 20260329), (20260409, None)),
    "rocm7.14": _windows((20260807, None)),
}

# Section 1.7: when the interpreters of the tags were built for.
PYTHONS: dict[str, Window] = {
    "cp38": Window(_day(20230101), _day(20240729)),
    "cp39": Window(_day(20230101), _day(20250825)),
    "cp310": Window(_day(20230101)),
    "cp311": Window(_day(20230208)),
    "cp312": Window(_day(20231218)),
    "cp313": Window(_day(20241017)),
    "cp313t": Window(_day(20250205), _day(20260511)),
    "cp314": Window(_day(20250818)),
    "cp314t": Window(_day(20250818)),
    "cp315": Window(_day(20260803)),
    "cp315t": Window(_day(20260803)),
}

# Section 4.4: dates without nightlies in the real world.
KNOWN_GAPS: dict[str, frozenset[date]] = {
    "": frozenset({_day(20241217)}),
    "cpu": frozenset({_day(20241110), _day(20241217)}),
}


def has_variant(day: date, variant: str) -> bool:
    """Whether the matrix of that day has the variant.

    Raises `ValueError` for one that never was.
    """
    if variant not in VARIANTS:
        raise ValueError(f"{variant}: no such variant; known are {', '.join(VARIANTS)}")
    return any(window.has(day) for window in VARIANTS[variant])


def has_python(day: date, python: str) -> bool:
    """Whether the matrix of that day has the interpreter (``cp311``, ``cp313t``).

    Raises `ValueError` for one that never was.
    """
    if python not in PYTHONS:
        raise ValueError(f"{python}: no such interpreter; known are {', '.join(PYTHONS)}")
    return PYTHONS[python].has(day)


def python_tag(python: str) -> str:
    """The first two parts of a wheel's tag: ``cp313-cp313t`` for ``cp313t``."""
    return f"{python.removesuffix('t')}-{python}"


def cuda_version(variant: str) -> str | None:
    """What ``torch.version.cuda`` says in a variant: ``13.0`` for cu130."""
    digits = variant.removeprefix("cu")
    return f"{digits[:-1]}.{digits[-1]}" if variant.startswith("cu") else None


_VOLTA_LEFT = date(2025, 12, 14)  # with 2.11; the months in 2025 in which it was away are left out


def architectures(variant: str, day: date) -> tuple[str, ...]:
    """What ``torch.cuda.get_arch_list()`` says on x86 (section 1.8)."""
    if not variant.startswith("cu"):
        return ()
    if variant < "cu128":
        return ("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90")
    volta = ("sm_70",) if variant == "cu128" and day < _VOLTA_LEFT else ()
    return (*volta, "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
