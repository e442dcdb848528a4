"""What a probe costs, in seconds: making the environment of a build, and running cases in it.

Only measured figures are given; what was not measured takes the usual ones below. With nothing measured, a build that is
here costs 0.4 of one that must be installed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import floor, log2
from statistics import fmean

USUAL_UNPACK = 60.0  # seconds to make an environment, as long as none was made
USUAL_RUN = 40.0  # seconds that a probe runs, whatever it runs, as long as no trial was measured
LEAST = 0.1  # seconds: opening an environment is never free
CLASSES = 2  # builds of which one costs at most 1 / CLASSES of a doubling more than the other count as equally dear


@dataclass(frozen=True, slots=True)
class Prices:
    """`unpack`: seconds to make an environment when its files are here. `trials`: mean seconds of a trial, by case.

    `sizes`: bytes to fetch for each build, None where unknown (taken for the mean); `speed`: bytes a second, None as long as
    it is not known, and then fetching is not counted. `fetched`: builds whose files are here.
    """

    unpack: float = USUAL_UNPACK
    speed: float | None = None
    sizes: tuple[int | None, ...] = ()
    fetched: frozenset[int] = frozenset()
    trials: Mapping[str, float] = field(default_factory=dict)

    def making(self, build: int) -> float:
        """Seconds until the environment of a build that is not ready is."""
        if not self.speed or build in self.fetched or build >= len(self.sizes):
            return self.unpack
        size = self.sizes[build]
        return self.unpack + (_mean_size(self.sizes) if size is None else size) / self.speed

    def running(self, case: str) -> float | None:
        """Seconds of one trial of a case: the mean of the others where only they were measured; None: nothing was."""
        if case in self.trials:
            return self.trials[case]
        return fmean(self.trials.values()) if self.trials else None

    def run(self, cases: Iterable[tuple[str, int]]) -> float:
        """Seconds of so many trials of each case, one after the other."""
        if not self.trials:
            return USUAL_RUN
        return sum(count * (self.running(case) or 0.0) for case, count in cases)

    def classes(self, ready: frozenset[int]) -> tuple[tuple[int, ...], ...]:
        """The builds that are cheaper than others, in groups of about the same price, each oldest first.

        Builds of the most common price are in no group.
        """
        groups = [tuple(sorted(ready))] if ready else []
        if self.speed and (fetched := self.fetched - ready):
            groups.append(tuple(sorted(fetched)))
        return (*groups, *(_classes_of(self.sizes) if self.speed else ()))


@lru_cache(maxsize=64)
def _mean_size(sizes: tuple[int | None, ...]) -> float:
    known = [size for size in sizes if size is not None]
    return fmean(known) if known else 0.0


@lru_cache(maxsize=64)
def _classes_of(sizes: tuple[int | None, ...]) -> tuple[tuple[int, ...], ...]:
    """Builds by size: the classes below that of the most builds, smallest first."""
    grouped: dict[int, list[int]] = defaultdict(list)
    for build, size in enumerate(sizes):
        grouped[floor(CLASSES * log2(size)) if size else -1].append(build)
    grouped.pop(-1, None)
    usual = max(grouped, key=lambda group: len(grouped[group]), default=0)
    return tuple(tuple(grouped[group]) for group in sorted(grouped) if group < usual)
