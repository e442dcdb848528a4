"""What an environment is made of, and the name that follows from it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from bisect_tool.builds.build import Build
from bisect_tool.environments.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """What an environment is made of; equal keys share one environment.

    `requires` are the spec's requirements. `base_system` puts it on top of the interpreter's own packages; of these, the ones
    whose names match `as_is` are taken whatever the build asks for. `hold` are the same for every build.
    """

    build: Build
    interpreter: Interpreter
    requires: tuple[str, ...] = ()
    base_system: bool = False
    hold: tuple[str, ...] = ()
    as_is: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything that the content depends on."""
        parts = (
            self.build.package,
            self.build.identity,
            self.interpreter.identity,
            *sorted(self.requires),
            f"system:{self.interpreter.path}" if self.base_system else "isolated",
            *(f"hold:{text}" for text in sorted(self.hold)),
            *(f"as-is:{text}" for text in sorted(self.as_is)),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def base(self) -> EnvironmentKey | None:
        """That of the environment which this one is laid over; None for one that stands alone."""
        return replace(self, build=self.build.base) if self.build.base is not None else None

    @property
    def folder_name(self) -> str:
        """Readable and unique: `torch-2.14.1-cpython-3.11.7-x86_64-0123456789abcdef`."""
        readable = f"{self.build.package}-{self.build.version}-{self.interpreter.identity}"
        return f"{re.sub(r'[^A-Za-z0-9._+-]', '_', readable)[:100]}-{self.digest}"
