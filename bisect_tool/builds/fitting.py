"""Which wheel of a version fits an interpreter best.

The order of the tags is that of `packaging.tags`, which pip uses as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import BuildTag, InvalidWheelFilename, NormalizedName, parse_wheel_filename
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Target
from bisect_tool.errors import SettingError

_ABI_WITH_PYMALLOC_UNTIL = (3, 8)


@dataclass(frozen=True, slots=True)
class WheelName:
    """What the file name of a wheel says; `spelled` is the version as the name spells it."""

    project: NormalizedName
    version: Version
    spelled: str
    build: BuildTag
    tags: frozenset[Tag]


@dataclass(frozen=True)
class Fitting:
    """Judges wheels for one `target`."""

    target: Target

    @cached_property
    def _ranks(self) -> dict[Tag, int]:
        return {tag: rank for rank, tag in reversed(list(enumerate(self.target.tags)))}

    @cached_property
    def _platforms(self) -> frozenset[str]:
        return frozenset(tag.platform for tag in self.target.tags)

    def rank(self, name: WheelName) -> int | None:
        """How well the tags fit: 0 is best, None is not at all."""
        return min((self._ranks[tag] for tag in name.tags if tag in self._ranks), default=None)

    def has_platform(self, name: WheelName) -> bool:
        """Whether the wheel is for this platform, whatever Python it is for."""
        return any(tag.platform in self._platforms for tag in name.tags)

    def takes_python(self, requires_python: str | None) -> bool:
        """Whether the Python version is allowed; a requirement that cannot be read forbids nothing, as in pip."""
        if not requires_python:
            return True
        try:
            # As pip does: 3.15.0rc1 counts as 3.15.0, which `>=3.15` allows.
            return SpecifierSet(requires_python).contains(Version(self.target.python).base_version)
        except InvalidSpecifier:
            return True

    def best(self, names: Iterable[WheelName]) -> WheelName | None:
        """The name with the best tags, among equals the one with the highest build number; None when none fits."""
        ranked = [(rank, name) for name in names if (rank := self.rank(name)) is not None]
        if not ranked:
            return None
        first = min(rank for rank, _ in ranked)
        return max((name for rank, name in ranked if rank == first), key=lambda name: name.build or (-1, ""))


def read_wheel_name(filename: str) -> WheelName | None:
    """What a file name says, None when it is not the name of a wheel."""
    try:
        project, version, build, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return None
    return WheelName(project, version, filename.split("-")[1], build, tags)


def target_for(python_version: str, *, free_threaded: bool = False) -> Target:
    """What a CPython of that version (`3.11`, `3.11.7`) takes on the platform that this process runs on.

    Raises:
        SettingError: the text is not a Python version.
    """
    match = re.match(r"(\d+)\.(\d+)", python_version)
    if match is None or versions.parsed(python_version) is None:
        raise SettingError(
            f"{python_version!r} is not a Python version", advice="Give it like 3.11 or 3.11.7, with the minor number."
        )
    python = int(match[1]), int(match[2])
    return Target(python_version, tuple(_tags(python, free_threaded=free_threaded)))


def _tags(python: tuple[int, int], *, free_threaded: bool) -> Iterator[Tag]:
    interpreter = f"cp{python[0]}{python[1]}"
    suffix = "t" if free_threaded else "m" if python < _ABI_WITH_PYMALLOC_UNTIL else ""
    platforms = list(platform_tags())
    yield from cpython_tags(python, [interpreter + suffix], platforms)
    yield from compatible_tags(python, interpreter, platforms)
