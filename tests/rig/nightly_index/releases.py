"""The stable releases of torch that belong to the nightlies of a plan, for the default index.

A release is not on main's line: its branch is cut a day before the nightlies get the next version, and its commits are its
own. It behaves like the nightly of the day of the cut, but for what `NightlyPlan.picks` says of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from tests.rig.nightly_index import eras, requirements, standin
from tests.rig.nightly_index.plan import DAY, NightlyPlan, behaviour_of
from tests.rig.wheel_maker import make_wheel

RIPENING = timedelta(days=42)  # from the cut to the release, about
# Section 3.1, first releases taken to pin what later ones of the same minor do; older ones from their own metadata.
_TRITON = {1: "2.1.0", 2: "2.2.0", 3: "2.3.0", 4: "3.0.0", 5: "3.1.0", 6: "3.2.0", 7: "3.3.1", 8: "3.4.0", 9: "3.5.1"}
_TRITON |= {10: "3.6.0", 11: "3.6.0", 12: "3.7.1", 13: "3.7.1", 14: "3.8.0", 15: "3.9.0"}
_CUDA = (
    (eras.EARLIEST, "cu121"),
    (date(2024, 10, 1), "cu124"),
    (date(2025, 4, 1), "cu126"),
    (date(2025, 8, 1), "cu128"),
    (date(2026, 3, 1), "cu130"),
    (date(2026, 11, 1), "cu132"),
)


@dataclass(frozen=True, slots=True)
class Release:
    """A stable release: `cut` is the day from whose main its branch goes off."""

    version: str
    cut: date
    uploaded: datetime
    revision: str

    @property
    def variant(self) -> str:
        """What the build of the default index is for, which its version does not say but its version.py does."""
        return next(variant for since, variant in reversed(_CUDA) if since <= self.uploaded.date())


def releases(plan: NightlyPlan) -> Iterator[Release]:
    """Those that are out on the last day of a plan, oldest first."""
    version = eras.FIRST_VERSION
    for bump in eras.BUMPS:
        cut = eras.switch_day(bump, plan.seed) - DAY
        uploaded = datetime.combine(cut + RIPENING, time(17), UTC)
        if uploaded.date() <= plan.last:
            digits = hashlib.sha1(f"{plan.seed}:release:{version}".encode(), usedforsecurity=False).hexdigest()
            yield Release(version, cut, uploaded, digits)
        version = bump.version


def make(folder: Path, plan: NightlyPlan) -> None:
    """Put the wheels of the releases into a folder for `tests.rig.index.serve`."""
    for release in releases(plan):
        for python in plan.pythons:
            if eras.has_python(release.cut, python):
                _make(folder, plan, release, python)


def _make(folder: Path, plan: NightlyPlan, release: Release, python: str) -> None:
    variant = release.variant
    behaviour = behaviour_of(plan.changes, release.cut, variant) | dict(plan.picks.get(release.version, {}))
    named = f"{release.version}+{variant}"
    minor = eras.minor(release.version)
    triton = f'triton=={_TRITON[minor]}; platform_system == "Linux"'
    make_wheel(
        folder,
        "torch",
        release.version,
        modules=standin.torch_modules(named, variant, release.cut, release.revision, behaviour),
        requires=() if plan.bare else (*requirements.pure(release.version), triton),
        tag=f"{eras.python_tag(python)}-manylinux_2_28_x86_64",
        uploaded=release.uploaded,
    )
