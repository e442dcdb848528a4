"""How uv is told to install a nightly: torch and what is pinned with it by address, the rest as of the date.

`docs/nightlies.md` explains the options and why the index of nightlies itself is not given to uv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation
from bisect_tool.builds.nightly.beside import (
    COMPANIONS,
    Beside,
    chosen_triton,
    companions_in,
    target_of,
    torch_pin,
    triton_pin,
)
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
        torch = self._torch(build)
        triton = None if own_triton else self._triton(torch or build)
        companions = self._companions(build, requires)
        address = self._named(build)
        overrides = [*own_triton, *([address] if companions else [])]
        return Installation(
            requirements=(
                address,
                *([self._named(torch)] if torch else []),
                *([triton] if triton else []),
                *companions.values(),
            ),
            options=self._options(build.package, *companions),
            constraints=self.reader.tables.constraints_on(build.date.date()) if build.date else (),
            overrides=tuple(overrides),
            instead_of=frozenset(companions),
        )

    def _options(self, *packages: str) -> tuple[str, ...]:
        """uv does not ask again for a file that it has by its address, not even when it was replaced: it must be told to."""
        fresh = [word for package in packages for word in ("--refresh-package", package)]
        return (*(("--default-index", self.default_index) if self.default_index else ()), *fresh)

    def _torch(self, build: Build) -> Build | None:
        """The torch of a build that is one of its companions."""
        pin = torch_pin(self._requires(build), target_of(build)) if build.package in COMPANIONS else None
        return self.beside.torch(pin, build) if pin else None

    def _triton(self, build: Build) -> str | None:
        pin = triton_pin(self._requires(build), target_of(build))
        address = self.beside.address_of(pin, build) if pin else None
        return f"{pin.name} @ {self.site.dressed(address)}" if pin and address else None

    def _requires(self, build: Build) -> tuple[str, ...]:
        try:
            return self.reader.requirements(build)
        except Unreadable:
            return ()  # the server gives no parts: uv reads the requirements when it has all of the wheel

    def _companions(self, build: Build, requires: Sequence[str]) -> dict[str, str]:
        """What to require for each companion that the spec asks for, by its name.

        One that is not found is required as it should be called: an old release that takes any torch must not come instead.
        """
        needs = companions_in(requires) if build.package == "torch" else []
        found = {canonicalize_name(need.name): self.beside.companion(need, build) for need in needs}
        return {
            name: self._named(one) if one else f"{name}=={self.beside.expected(name, build)}"
            for name, one in found.items()
        }

    def _named(self, build: Build) -> str:
        return f"{build.package} @ {self.site.dressed(build.location)}"
