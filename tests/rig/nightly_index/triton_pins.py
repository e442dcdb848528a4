"""Which triton each nightly needs: exact, with a local version, and another one every few weeks (section 3.1).

Pins that are known from real nightlies stand at their dates; those between them are drawn from the seed.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from tests.rig.nightly_index.eras import EARLIEST, minor

RENAMED = date(2025, 12, 10)
_GIT_SINCE = (3, 2)  # local versions are "git" and eight digits since then, ten digits without a word before
_LAST = date(2027, 12, 31)


@dataclass(frozen=True, slots=True)
class TritonPin:
    """`version` is exact, such as ``3.9.0+gitaad2a60d``; it is pinned from `since` on."""

    since: date
    version: str


# The first four are guesses between the stable releases that pinned the same number; the rest was seen.
_VERSIONS = (
    (date(2023, 4, 1), "2.1.0"),
    (date(2023, 12, 15), "3.0.0"),
    (date(2024, 8, 1), "3.1.0"),
    (date(2024, 12, 1), "3.2.0"),
    (date(2025, 2, 15), "3.3.0"),
    (date(2025, 5, 1), "3.3.1"),
    (date(2025, 6, 15), "3.4.0"),
    (date(2025, 9, 15), "3.5.0"),
    (date(2025, 10, 15), "3.5.1"),
    (date(2025, 12, 1), "3.6.0"),
    (date(2026, 4, 1), "3.7.0"),
    (date(2026, 5, 20), "3.7.1"),
    (date(2026, 7, 10), "3.8.0"),
    (date(2026, 9, 20), "3.9.0"),
)
SEEN = {
    date(2024, 11, 13): "3.1.0+cf34004b8a",
    date(2025, 1, 15): "3.2.0+git0d4682f0",
    date(2025, 9, 2): "3.4.0+gitf7888497",
    date(2026, 6, 20): "3.7.1+git5d6048aa",
    date(2026, 10, 6): "3.9.0+gitaad2a60d",
}


@lru_cache(maxsize=64)
def pins(seed: int) -> tuple[TritonPin, ...]:
    """All pins, oldest first."""
    rng = random.Random(f"{seed}:triton")
    found, day = [], EARLIEST
    while day < _LAST:
        following = day + timedelta(rng.randint(18, 45))
        seen = next((version for at, version in SEEN.items() if day <= at < following), None)
        found.append(TritonPin(day, seen or _drawn(day, seed)))
        day = following
    return tuple(found)


def _drawn(day: date, seed: int) -> str:
    version = next(version for since, version in reversed(_VERSIONS) if since <= day)
    revision = hashlib.sha1(f"{seed}:triton:{day}".encode(), usedforsecurity=False).hexdigest()
    new = tuple(int(part) for part in version.split(".")[:2]) >= _GIT_SINCE
    return f"{version}+git{revision[:8]}" if new else f"{version}+{revision[:10]}"


def pin_of(day: date, seed: int) -> TritonPin:
    """The pin of the nightly of a day."""
    return next(pin for pin in reversed(pins(seed)) if pin.since <= day)


def triton_name(day: date, variant: str) -> str:
    """The name of the distribution that a variant needs."""
    suffix = "-rocm" if variant.startswith("rocm") else "-xpu" if variant == "xpu" else ""
    return ("triton" if day >= RENAMED else "pytorch-triton") + suffix


def requirement(day: date, variant: str, version: str, seed: int) -> str | None:
    """The Requires-Dist line of a nightly with the base version `version`; None for CPU wheels, which need none."""
    if variant == "cpu":
        return None
    markers = ['platform_system == "Linux"']
    if minor(version) < 11:
        markers.append('platform_machine == "x86_64"')
    if minor(version) < 4:
        markers.append('python_version < "3.12"')
    elif minor(version) < 6:
        markers.append('python_version < "3.13"')
    elif minor(version) >= 13:
        markers.append('python_version < "3.15"')
    return f"{triton_name(day, variant)}=={pin_of(day, seed).version}; {' and '.join(markers)}"


def triton_platform(day: date) -> str:
    """The platform tag of a triton wheel."""
    return "manylinux_2_27_x86_64.manylinux_2_28_x86_64" if day >= date(2025, 1, 2) else "linux_x86_64"
