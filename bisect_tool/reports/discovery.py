"""Which configuration shows a failure that does not show as it is: what was tried, and what to write into the spec."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bisect_tool.reports.part import Part

Shows = Literal["the failure", "another failure", "passes", "not judged"]


class TriedConfiguration(Part):
    """One configuration: the spec with `changes`, each an axis with its value; none is the spec as it is.

    `shows` is what its most telling trial showed, `detail` says more. `shown` of its `trials` of test cases had the wanted
    failure; trials of controls are in `seconds` and not in `trials`.
    """

    changes: tuple[str, ...] = ()
    build: str
    shows: Shows
    detail: str = ""
    shown: int = 0
    trials: int = 0
    seconds: float = 0.0
    log: str | None = None


class Discovery(Part):
    """The search for a configuration. `wanted` says which failure counts.

    `found` are the changes of the configuration that reproduces; None when none of them does. `fragment` is YAML to put into
    the spec for it, `written` the files that have it already, `try_it` the command that shows it. `left` are configurations
    that there was no time for, `cannot` those that this machine or spec does not allow, with the reason.
    """

    wanted: tuple[str, ...]
    found: tuple[str, ...] | None = None
    is_flaky: bool = False
    sentence: str
    fragment: str | None = None
    written: tuple[str, ...] = ()
    try_it: str | None = None
    tried: tuple[TriedConfiguration, ...] = ()
    left: int = 0
    cannot: tuple[str, ...] = ()
    trials: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = Field(default=(), description="What to know before it is believed.")
