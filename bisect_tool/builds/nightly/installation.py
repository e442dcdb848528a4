"""How uv is told to install a nightly: torch and what is pinned with it by address, the rest as of the date.

`docs/nightlies.md` explains the options and why the index of nightlies itself is not given to uv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation
from bisect_tool.builds.nightly.beside import Beside, chosen_triton, companions_in, target_of, triton_pin
from bisect_tool.builds.nightly.inside import Unreadable, WheelReader
from bisect_tool.builds.nightly.site import Site


@dataclass(frozen=True, slots=True)
class Installer:
    """Makes installations; `default_index` is the address for everything else, None for the one that uv asks anyway."""

    site: Site
    reader: WheelReader
    beside: Beside
    default_index: str | None

    def installation(self, build: Build, requires: Sequence[str]) -> Installation:
        """What uv must be given for a build and for what the spec requires beside it.

        What cannot be found, a pinned triton or a companion, is left to uv, which then says that there is no solution: the
        build is untestable, and nothing else takes its place.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        own_triton = chosen_triton(requires)
        triton = None if own_triton else self._triton(build)
        companions = self._companions(build, requires)
        address = self._named(build)
        overrides = [*own_triton, *([address] if companions else [])]
        day = build.date.date() if build.date else None
        return Installation(
            requirements=(address, *([triton] if triton else []), *(self._named(one) for one in companions)),
            options=self._options(build, companions),
            constraints=self.reader.tables.constraints_on(day) if day else (),
            overrides=tuple(overrides),
            instead_of=frozenset(canonicalize_name(one.package) for one in companions),
        )

    def _options(self, build: Build, companions: Sequence[Build]) -> tuple[str, ...]:
        """uv does not ask again for a file that it has by its address, not even when it was replaced: it must be told to."""
        fresh = [word for one in (build, *companions) for word in ("--refresh-package", one.package)]
        return (*(("--default-index", self.default_index) if self.default_index else ()), *fresh)

    def _triton(self, build: Build) -> str | None:
        try:
            requires = self.reader.requirements(build)
        except Unreadable:
            return None  # the server gives no parts: uv reads the requirements when it has all of the wheel
        pin = triton_pin(requires, target_of(build))
        address = self.beside.address_of(pin, build) if pin else None
        return f"{pin.name} @ {self.site.dressed(address)}" if pin and address else None

    def _companions(self, build: Build, requires: Sequence[str]) -> tuple[Build, ...]:
        """All that the spec asks for, or none: torch is kept in its place only where each of them is known to belong to it."""
        needs = companions_in(requires) if build.package == "torch" else []
        found = [self.beside.companion(need, build) for need in needs]
        there = [one for one in found if one is not None]
        return tuple(there) if len(there) == len(needs) else ()

    def _named(self, build: Build) -> str:
        return f"{build.package} @ {self.site.dressed(build.location)}"
