"""What the report says of environments that hold something else than a package asks for, because the spec says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bisect_tool.builds.build import Build
from bisect_tool.environments.holding import INSTEAD


def instead_notes(builds: Sequence[Build], healths: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """One sentence for each package, with the builds that it is true of, oldest first; `healths` are by build identity."""
    found: dict[str, list[str]] = {}
    for build in builds:
        for sentence in healths.get(build.identity, {}).get("facts", {}).get(INSTEAD, ()):
            found.setdefault(sentence, []).append(build.label)
    return tuple(f"{sentence} ({_of(labels)})" for sentence, labels in found.items())


def _of(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return f"{len(labels)} builds from {labels[0]} to {labels[-1]}"
