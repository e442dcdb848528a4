"""A value with where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class How(StrEnum):
    """`FOUND`: the report says so. `GUESSED`: a rule made it of what the report says. `DEFAULT`: the report says nothing."""

    FOUND = "found"
    GUESSED = "guessed"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """`rule` is one of `bisect_tool.spec.drafting.rules`, `why` a phrase for people, `line` counts from 1 in the report.

    Line 0 is the title.
    """

    value: T
    how: How
    rule: str
    why: str
    line: int | None = None

    @property
    def told(self) -> str:
        """How and why, in one phrase: `guessed: two releases before 2.13.0 (line 92)`."""
        place = f" (line {self.line})" if self.line else " (title)" if self.line == 0 else ""
        return f"{self.how}: {self.why}{place}"


def found(value: T, rule: str, why: str, line: int | None = None) -> Found[T]:
    """What the report says."""
    return Found(value, How.FOUND, rule, why, line)


def guessed(value: T, rule: str, why: str, line: int | None = None) -> Found[T]:
    """What a rule made of it."""
    return Found(value, How.GUESSED, rule, why, line)


def default(value: T, rule: str, why: str) -> Found[T]:
    """What stands where the report says nothing."""
    return Found(value, How.DEFAULT, rule, why)
