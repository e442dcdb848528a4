"""What the report says of environments that hold something else than a package asks for, because the spec says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bisect_tool.builds.build import Build
from bisect_tool.environments.holding import INSTEAD

MOST = 8  # sentences


def instead_notes(builds: Sequence[Build], healths: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """One sentence for each requirement, with the builds that it is true of, oldest first; `healths` are by build identity.

    Where every build asks for something of its own, the first few stand for all.
    """
    found: dict[str, list[str]] = {}
    for build in builds:
        for sentence in healths.get(build.identity, {}).get("facts", {}).get(INSTEAD, ()):
            found.setdefault(sentence, []).append(build.label)
    notes = [f"{sentence} ({_of(labels)})" for sentence, labels in found.items()]
    more = len(notes) - MOST
    return (*notes[:MOST], f"{more} more requirements of this kind were not met") if more > 1 else tuple(notes)


def _of(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return f"{len(labels)} builds from {labels[0]} to {labels[-1]}"
