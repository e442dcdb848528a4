"""What is known about many questions, read at once: it answers as the results database does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bisect_tool.store.records import StoredTrial, Topic

PART = 200  # values in one query: every database takes that many


@dataclass(frozen=True, slots=True)
class Gathered:
    """Trials by topic, unusable builds and healths by (setting, device). Raises `KeyError` for what was not asked for."""

    trials: Mapping[Topic, list[StoredTrial]]
    _unusable: Mapping[tuple[str, str], dict[str, str]]
    _healths: Mapping[tuple[str, str], dict[str, dict[str, Any]]]

    def trials_of(self, repro: str, setting: str, device: str) -> list[StoredTrial]:
        """As `Results.trials_of`."""
        return self.trials[Topic(repro, setting, device)]

    def unusable(self, setting: str, device: str, host: str = "") -> dict[str, str]:  # noqa: ARG002  asked for one host
        """As `Results.unusable`, for the host that was gathered for."""
        return self._unusable[setting, device]

    def healths(self, setting: str, device: str) -> dict[str, dict[str, Any]]:
        """As `Results.healths`."""
        return self._healths[setting, device]


def in_parts(values: Iterable[str]) -> Iterator[list[str]]:
    """The values, a part at a time."""
    left = list(values)
    for start in range(0, len(left), PART):
        yield left[start : start + PART]
