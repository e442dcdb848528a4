"""Faults planted in the index: on files and pages by pattern, or as a storm over everything.

The faults themselves are those of `tests.rig.index_faults`.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase

from tests.rig.index_faults import Fault, FaultKind, reset, status, truncated
from tests.rig.index_state import Planted

STORM = (status(503), status(500), status(502), status(429, retry_after=0), reset(), truncated())


@dataclass(slots=True)
class NightlyFault:
    """A fault in its place; `planted_at` is the index's time then, `method` limits it to HEAD or GET."""

    planted: Planted
    method: str | None
    planted_at: datetime

    def hits(self, method: str, name: str, path: str) -> bool:
        """Count a request that it is meant for and say whether it acts on it."""
        pattern = self.planted.pattern
        meant = fnmatchcase(name, pattern) or fnmatchcase(path, pattern)
        return meant and self.method in (None, method) and self.planted.strikes()


@dataclass(slots=True)
class Storm:
    """Each request fails with the probability `share`, but one path never more than `limit` times."""

    rng: random.Random
    share: float
    limit: int
    kinds: Sequence[Fault]
    pattern: str
    suffered: Counter[str] = field(default_factory=Counter)

    def strike(self, path: str) -> Fault | None:
        """The fault of one request."""
        if not fnmatchcase(path, self.pattern) or self.suffered[path] >= self.limit or self.rng.random() >= self.share:
            return None
        self.suffered[path] += 1
        return self.rng.choice(self.kinds)


@dataclass(slots=True)
class FaultBook:
    """All faults of an index. Patterns are matched with the file name (the package of a page) and with the whole path,
    unquoted and without the first slash: ``torch-2.16*+cpu-*``, ``whl/nightly/cpu/torch/``, ``*.metadata``."""

    clock: Callable[[], datetime]
    planted: list[NightlyFault] = field(default_factory=list)
    storms: list[Storm] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, pattern: str, fault: Fault, *, method: str | None = None) -> None:
        """Let `fault` act on everything that matches; ``times`` and ``after`` of the fault count its requests."""
        with self.lock:
            self.planted.append(NightlyFault(Planted(pattern, fault), method, self.clock()))

    def storm(
        self, seed: int, share: float, *, limit: int = 1, kinds: Sequence[Fault] = STORM, pattern: str = "*"
    ) -> None:
        """Let requests fail at random, so that every one succeeds when it is repeated `limit` times."""
        with self.lock:
            self.storms.append(Storm(random.Random(seed), share, limit, kinds, pattern))

    def clear(self) -> None:
        """Take all faults away."""
        with self.lock:
            self.planted.clear()
            self.storms.clear()

    def striking(self, method: str, name: str, path: str) -> dict[FaultKind, Fault]:
        """The faults that act on one request, each of which counts it."""
        with self.lock:
            struck = {f.planted.fault.kind: f.planted.fault for f in self.planted if f.hits(method, name, path)}
            blown = (storm.strike(path) for storm in self.storms)
            return {fault.kind: fault for fault in blown if fault} | struck

    def page_moment(self, name: str, path: str, now: datetime) -> datetime:
        """The moment whose page is shown: an old one where a page is stale."""
        stale = [
            fault.planted_at
            for fault in self.planted
            if fault.planted.fault.kind is FaultKind.STALE
            and (fnmatchcase(name, fault.planted.pattern) or fnmatchcase(path, fault.planted.pattern))
        ]
        return min([now, *stale])
