"""What is to be installed, and that it cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments.interpreter import Interpreter


class NotInstallable(Exception):
    """The build cannot be installed on this interpreter and platform; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to install. `as_of`: other requirements are resolved as of this moment; None when the index has no times.

    `hold` are requirements that are as they say whatever anything else asks for.
    """

    build: Build
    installation: Installation
    interpreter: Interpreter
    requires: tuple[str, ...]
    base_system: bool
    as_of: datetime | None
    hold: tuple[str, ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """Everything that is required beside the build, each once."""
        return tuple(dict.fromkeys((*self.requires, *self.hold)))
