"""What a thin search has left, for the report: what was only seen thin, and how often that agreed with whole builds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bisect_tool.trials.failure import FoundFailure


@dataclass(frozen=True, slots=True)
class ThinLook:
    """`builds` were looked at thin, in so many `trials`, on the binaries of `bases`; `failures` is what they showed.

    `not_valid`: builds whose Python files do not fit the binaries that they were laid over, with the reason.
    """

    builds: tuple[int, ...] = ()
    trials: int = 0
    bases: tuple[int, ...] = ()
    failures: Mapping[str, FoundFailure] = field(default_factory=dict)
    not_valid: Mapping[int, str] = field(default_factory=dict)
