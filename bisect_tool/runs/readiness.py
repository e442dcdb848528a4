"""Which environments are here, found once for all questions over the same builds instead of once for each of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from bisect_tool.environments.environment import EnvironmentKey, Environments
from bisect_tool.runs.surveying import Survey

UNSURE = 100_000_000  # nanoseconds: a folder that changed so lately may change again without a sign of it


@dataclass(frozen=True, slots=True)
class _Row:
    """What was found for a row of environments; the row is kept so that its identity stays its own."""

    row: tuple[str, ...]
    generation: int
    ready: frozenset[int]


@dataclass(slots=True)
class Readiness:
    """Looks into the folder of the environments only when that has changed; `clock` gives nanoseconds since 1970."""

    environments: Environments
    clock: Callable[[], int] = time.time_ns
    _folder: str = ""
    _stamp: int = -1
    _generation: int = 0
    _here: frozenset[str] = frozenset()
    _rows: dict[int, _Row] = field(default_factory=dict)
    _made: dict[object, tuple[Survey, tuple[str, ...]]] = field(default_factory=dict)
    _equal: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _places: dict[int, tuple[tuple[str, ...], dict[str, tuple[int, ...]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._folder = str(self.environments.cache.environments)

    def row_of(self, survey: Survey) -> tuple[str, ...]:
        """The digest of the environment of each build; one object for equal rows, which are compared all the time."""
        spec = survey.spec
        # Of the very same builds and interpreters: surveys that are shared have them.
        parts = (
            id(survey.selection.builds),
            id(survey.interpreters),
            spec.requires,
            spec.base,
            survey.held,
            spec.as_is,
        )
        if parts not in self._made:
            row = tuple(survey.environment_key(number).digest for number in range(len(survey.builds)))
            self._made[parts] = survey, self._equal.setdefault(row, row)
        return self._made[parts][1]

    def places(self, row: tuple[str, ...], digest: str) -> tuple[int, ...]:
        """Where in a row that `row_of` gave an environment is."""
        kept = self._places.get(id(row))
        if kept is None or kept[0] is not row:
            found: dict[str, tuple[int, ...]] = {}
            for number, name in enumerate(row):
                found[name] = (*found.get(name, ()), number)
            kept = self._places[id(row)] = row, found
        return kept[1].get(digest, ())

    def of(self, row: tuple[str, ...], key_of: Callable[[int], EnvironmentKey]) -> frozenset[int]:
        """The numbers of those that are ready in `row`, the digests of environments; `key_of` gives the key of a number."""
        if (there := self.environments.elsewhere()) is not None:
            return self._of_others(row, there)
        self._look()
        kept = self._rows.get(id(row))
        if kept is not None and kept.generation == self._generation:
            return kept.ready
        here = [number for number, digest in enumerate(row) if digest in self._here]
        ready = frozenset(number for number in here if self.environments.is_ready(key_of(number)))
        if kept is not None and kept.ready == ready:
            ready = kept.ready  # the same object, so that whoever keeps it sees at once that nothing has changed
        # One that is here and not ready is being made: it becomes ready without a change of the folder that holds it.
        generation = self._generation if len(ready) == len(here) else -1
        self._rows[id(row)] = _Row(row, generation, ready)
        return ready

    def _of_others(self, row: tuple[str, ...], there: frozenset[str]) -> frozenset[int]:
        """The same object as long as nothing has changed, so that whoever keeps it sees that at once."""
        ready = frozenset(number for number, digest in enumerate(row) if digest in there)
        kept = self._rows.get(id(row))
        if kept is None or kept.ready != ready:
            kept = self._rows[id(row)] = _Row(row, -1, ready)
        return kept.ready

    def _look(self) -> None:
        try:  # asked for each question in each decision: nothing around the call
            stamp = os.stat(self._folder).st_mtime_ns  # noqa: PTH116
        except OSError:
            stamp = -1
        if stamp == self._stamp:
            return
        names: list[str] = []
        with suppress(OSError):
            names = os.listdir(self._folder)  # noqa: PTH208  names alone, some thousand of them
        self._here = frozenset(name.rpartition("-")[2] for name in names)
        self._generation += 1
        self._stamp = stamp if self.clock() - stamp > UNSURE else -1
