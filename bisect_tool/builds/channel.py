"""The seam for places where builds come from.

A channel is one module in `bisect_tool.builds.channels` with a function ``open_channel(access) -> Channel``; its file name
is the name that a spec uses. `names()` finds them, so that a new channel is one new file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from bisect_tool.builds import channels
from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.commits.line import CommitLine


@dataclass(frozen=True, slots=True)
class Access:
    """Where a channel may look, and what it may keep.

    `index` is the address of the package index (None: the usual settings decide), `nightly_index` that of the nightlies
    (None: PyTorch's own), `wheelhouse` a folder of wheels, `pages` a folder to keep answers in. `tell` takes a line about
    work that takes a while ("looking for builds: 120 of 366 dates"). `line` opens the history of the package, for a channel
    whose builds are commits: the rooms that know git come after this one.
    """

    index: str | None = None
    wheelhouse: Path | None = None
    pages: Path | None = None
    nightly_index: str | None = None
    tell: Callable[[str], None] = field(default=lambda _line: None, repr=False)
    line: Callable[[], CommitLine] | None = field(default=None, repr=False)


class Channel(Protocol):
    """Where builds come from."""

    def listing(self, wanted: Wanted) -> Listing:
        """Every build that fits, oldest first.

        Raises `PackageNotFound`, `IndexUnreachable`.
        """

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        """What uv must be given to install exactly `build`; `requires` are the requirements of the spec beside it.

        Raises `IndexUnreachable`.
        """

    def current(self, build: Build) -> Build:
        """`build` as its place has it now: another identity means that the file was replaced under the same name.

        Asks the place where that is needed to know. Raises `IndexUnreachable`.
        """

    def identified(self, build: Build) -> Build:
        """`build` with the commit that it names, where that can be read without installing it; else as it was.

        Raises `IndexUnreachable`.
        """

    def source_address(self) -> str:
        """The place, for people: an address or a folder."""


def names() -> tuple[str, ...]:
    """The channels that exist."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(channels.__path__)))


def open_channel(name: str, access: Access) -> Channel:
    """The channel called `name`, one of `names()`."""
    module = importlib.import_module(f"{channels.__name__}.{name}")
    return cast("Channel", module.open_channel(access))
