"""Which builds are looked at thin, and on whose binaries: the newest build of a stretch carries those before it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bisect_tool.builds.build import Build

LONGEST = 64  # builds of a stretch: older Python fits newer binaries across about one release, eight weeks (measured)
SIZE = 11_500_000  # bytes of the Python part of a torch wheel (measured)
_MARK = " (thin)"


def bases_of(
    builds: Sequence[Build], cuts: Collection[int], dead: Collection[int], alone: Collection[int] = ()
) -> tuple[int | None, ...]:
    """For each build the number of the one whose binaries it takes, None where it is looked at whole.

    A stretch ends with its newest build. It is cut at every build of `cuts`, which are looked at whole and carry what is older,
    where variant or Python change, and after `LONGEST` builds. Builds of `dead` cannot be used, and carry nothing. Those of
    `alone` are looked at whole and carry nothing either, so that what is known of the others stays known.
    """
    found: list[int | None] = [None] * len(builds)
    base: int | None = None
    for number in range(len(builds) - 1, -1, -1):
        if number in dead:
            continue
        if base is None or number in cuts or base - number >= LONGEST or not _fit(builds[number], builds[base]):
            base = number
        elif number not in alone:
            found[number] = base
    return tuple(found)


def laid(builds: Sequence[Build], bases: Sequence[int | None]) -> tuple[Build, ...]:
    """The builds as they are looked at."""
    return tuple(
        build if base is None else thinned(build, builds[base]) for build, base in zip(builds, bases, strict=True)
    )


def thinned(build: Build, base: Build) -> Build:
    """The Python files of `build` on the binaries of `base`."""
    return replace(build, version=f"{build.version}{_MARK}", base=base, is_thin=True, size=SIZE)


def whole(thin: Build, size: int | None = None) -> Build:
    """The build whose Python files a thin one has; its `size` in bytes is not known from that."""
    return replace(thin, version=thin.version.removesuffix(_MARK), base=None, is_thin=False, size=size)


def _fit(build: Build, base: Build) -> bool:
    return (build.variant, build.python) == (base.variant, base.python)
