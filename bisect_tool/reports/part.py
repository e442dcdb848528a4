"""What every part of a report is made of: a frozen value without text that a terminal would obey."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

from bisect_tool.reports.cleaning import clean


class Part(BaseModel):
    """Frozen, nothing unknown, and no text that a terminal would obey."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _cleaned(cls, given: object) -> object:
        return {name: _clean(value) for name, value in given.items()} if isinstance(given, dict) else given


def _clean(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (tuple, list)):
        return tuple(clean(item) if isinstance(item, str) else item for item in value)
    return value
