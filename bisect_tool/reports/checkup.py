"""What `bisect doctor` found, as a value (its JSON), and as text."""

from __future__ import annotations

import textwrap
from typing import Any, Literal

from pydantic import Field

from bisect_tool.reports.part import Part

Level = Literal["ok", "warning", "problem"]
_SIGNS: dict[Level, str] = {"ok": "ok     ", "warning": "warning", "problem": "PROBLEM"}
_WIDTH = 100


class Finding(Part):
    """One line: what was looked at, what was found, and for anything but `ok` what to do.

    A `problem` keeps something from working that was asked for; a `warning` may slow it down or limit it.
    """

    about: str = Field(description="What was looked at: `gpu`, `cuda`, `uv`, `python`, `index`, `disk`, and so on.")
    level: Level
    says: str
    fix: str = ""
    facts: dict[str, Any] = Field(default_factory=dict, description="The same for programs; keys depend on `about`.")


class Checkup(Part):
    """All lines, in the order in which they are shown."""

    schema_version: Literal[1] = 1
    tool: str
    device: str = Field(
        description="The device that was asked about: `cuda`, `cpu`, or both in the order of preference."
    )
    channels: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def is_well(self) -> bool:
        """Whether nothing that was asked for is in the way."""
        return all(finding.level != "problem" for finding in self.findings)


def checkup_schema() -> dict[str, Any]:
    """The JSON Schema of schema version 1, Draft 2020-12."""
    schema = Checkup.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def render(checkup: Checkup) -> str:
    """The lines as text, the last of them a sum."""
    lines = [line for finding in checkup.findings for line in _lines(finding)]
    counts = {level: sum(finding.level == level for finding in checkup.findings) for level in _SIGNS}
    if checkup.is_well:
        warnings = counts["warning"]
        end = (
            f"Nothing is in the way; {warnings} warning{'s' if warnings != 1 else ''}." if warnings else "All is well."
        )
    else:
        end = f"{counts['problem']} problem{'s' if counts['problem'] != 1 else ''}, {counts['warning']} warnings."
    return "\n".join([*lines, "", end]) + "\n"


def _lines(finding: Finding) -> list[str]:
    head = f"{_SIGNS[finding.level]}  {finding.about + ':':<10} "
    lines = textwrap.wrap(finding.says, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
    if finding.fix and finding.level != "ok":
        indent = " " * len(head)
        lines += textwrap.wrap(finding.fix, _WIDTH, initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   ")
    return lines
