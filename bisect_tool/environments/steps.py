"""What happens while an environment is made, for whoever waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.environments.uv import Download


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another process makes this environment."""


@dataclass(frozen=True, slots=True)
class Making:
    """The environment is being made."""


@dataclass(frozen=True, slots=True)
class Checking:
    """The health check runs."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An attempt failed through no fault of the build and is made again."""

    reason: str
    attempt: int
    of: int


Step = Waiting | Making | Checking | Download | Trouble
