"""Where an environment may differ from what its packages ask for: what a spec holds, and what it takes as it is.

Nothing of it is silent: whatever is there instead of what was asked for is told as a fact of the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier
from packaging.utils import canonicalize_name

from bisect_tool.builds.nightly.beside import TRITON

INSTEAD = "instead"  # the fact of an environment that lists the sentences


@dataclass(frozen=True, slots=True)
class Standing:
    """What an environment stands on: the packages of the interpreter (`base_system`), those that a spec holds or takes.

    `as_is` are patterns of names, `hold` requirements.
    """

    base_system: bool = False
    hold: tuple[str, ...] = ()
    as_is: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Whether the base's package of that name serves whatever is asked for."""
        own = canonicalize_name(name)
        return any(fnmatchcase(own, pattern.lower().replace("_", "-").replace(".", "-")) for pattern in self.as_is)


def held_requirements(package: str, requires: Sequence[str], hold: Sequence[str]) -> tuple[str, ...]:
    """What stays the same for every build of `package`.

    Every torch asks for exactly one triton: whoever requires one torch beside builds of triton can only mean that it is held.
    """
    pinned = [text for text in requires if canonicalize_name(Requirement(text).name) == "torch" and is_pinned(text)]
    return (*hold, *(pinned if canonicalize_name(package) in TRITON else ()))


def is_pinned(text: str) -> bool:
    """Whether a requirement names one version or one file."""
    need = Requirement(text)
    return need.url is not None or any(_is_one_version(part) for part in need.specifier)


def _is_one_version(part: Specifier) -> bool:
    return part.operator in {"==", "==="} and not part.version.endswith(".*")


def pinned_by(requires: Iterable[str], name: str, python: str) -> str:
    """`name` as these Requires-Dist lines ask for it on a Python (`3.12.3`); alone where they do not name it."""
    for need in _needs(requires, python):
        if canonicalize_name(need.name) == canonicalize_name(name):
            return f"{need.name}{need.specifier}"
    return name


def unmet(
    requires: Iterable[str], packages: Mapping[str, str], python: str
) -> Iterator[tuple[Requirement, str | None]]:
    """The requirements that `packages` (canonical name → version) do not meet on a Python, with the version that is there."""
    for need in _needs(requires, python):
        have = packages.get(canonicalize_name(need.name))
        if have is None or not need.specifier.contains(have, prereleases=True):
            yield need, have


def _needs(requires: Iterable[str], python: str) -> Iterator[Requirement]:
    minor = ".".join(python.split(".")[:2])
    here = {"extra": "", "python_version": minor, "python_full_version": python}
    for text in requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        if need.marker is None or need.marker.evaluate(here):
            yield need


def overridden(found: Mapping[str, Any]) -> list[str]:
    """The pins that gave way, by what the probe found: "torch 2.14.1 asks for triton==3.8.0, which gave way"."""
    said = []
    for name, version, text in found.get("wishes", ()):
        for need, have in unmet([text], found["packages"], found["python"]):
            gone = "which gave way" if have else "which is not there"
            said.append(f"{name} {version} asks for {need.name}{need.specifier}, {gone}")
    return sorted(said)


def taken(need: Requirement, have: str | None) -> str:
    """The sentence about a package of the base that is taken as it is."""
    return f"{need.name} {have or '(which is not there)'} is taken as it is, instead of {need.name}{need.specifier}"
