"""Which faults are those of one spec, and which are the machine's, so that going on would only repeat them."""

from __future__ import annotations

from dataclasses import dataclass
from errno import ENOSPC

from bisect_tool.errors import (
    BisectError,
    BoundError,
    CommandFault,
    DeviceMissing,
    EmptyRange,
    HistoryUnavailable,
    IndexUnreachable,
    MachineFault,
    PackageNotFound,
    PythonMissing,
    RequirementsUnmet,
    RevisionUnknown,
    SettingError,
    SpecError,
)

OF_A_SPEC = (
    BoundError,
    CommandFault,
    DeviceMissing,
    EmptyRange,
    HistoryUnavailable,
    PackageNotFound,
    PythonMissing,
    RequirementsUnmet,
    RevisionUnknown,
    SettingError,
    SpecError,
)
IN_A_ROW = 3  # specs that end by a fault of the machine with no finished trial in between: then it is the machine


@dataclass(slots=True)
class OwnFaults:
    """Remembers how many specs in a row the machine has spoiled."""

    _in_a_row: int = 0

    def is_own(self, error: Exception, *, is_begun: bool) -> bool:
        """Whether the fault ends one spec alone. `is_begun`: its builds are listed already.

        A repro that kills what it should not looks like a broken machine: the first such specs are given up one by one.
        """
        match error:
            case MachineFault():
                self._in_a_row += 1
                return self._in_a_row < IN_A_ROW
            case IndexUnreachable():
                return not is_begun  # its channel cannot be listed; later on it is the network, for all of them
            case BisectError():
                return isinstance(error, OF_A_SPEC)
            case MemoryError():
                return False
            case OSError():
                return error.errno != ENOSPC
            case _:
                return True

    def went_well(self) -> None:
        """A trial has finished: the machine works."""
        self._in_a_row = 0
