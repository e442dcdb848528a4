"""Hard histories of nightlies by seed, with what is true about them: for searches that go over HTTP."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from tests.rig.nightly_index.index import NightlyIndex
from tests.rig.nightly_index.plan import DAY, Change, Missing, NightlyPlan

CASE = "main"
FAILURE = "RuntimeError: gradient is all zero"
# Variants and a last day such that no single variant spans 400 days, but for the first.
_SETTINGS = (
    (("cpu",), date(2026, 10, 9)),
    (("cu124", "cu128"), date(2025, 9, 20)),  # cu124 ends on 2025-03-10, cu128 begins on 2025-01-30
    (("cu128", "cu132"), date(2026, 10, 9)),  # cu128 ends on 2026-04-06, cu132 begins on 2026-04-01
)


@dataclass(frozen=True, slots=True)
class Truth:
    """The neighbouring builds that differ, as dates, and the dead builds between them.

    Where a date shares its main commit with others, it is the first of them that can be tested; a dead build of the same
    commit as one that can be tested leaves nothing open.
    """

    last_without: date
    first_with: date
    dead_between: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A plan in which `CASE` begins to fail with `FAILURE` once, and whose index is not reliable.

    `replaced` is a day whose wheels are uploaded again, with the same behaviour, when `open` begins.
    """

    seed: int
    plan: NightlyPlan
    replaced: date
    storm: float = 0.03

    @contextlib.contextmanager
    def open(self) -> Iterator[NightlyIndex]:
        """The index, with its faults."""
        with NightlyIndex(self.plan) as index:
            index.replace(f"torch-*{self.replaced:%Y%m%d}*")
            index.faults.storm(self.seed, self.storm)
            yield index

    def truth(self) -> Truth:
        """What a search over the whole plan has to find."""
        testable = [day for day in _built(self.plan) if day not in self.plan.dead]
        first_with = next(day for day in testable if fails(self.plan, day))
        last_without = [day for day in testable if day < first_with][-1]
        source = self.plan.source_day(last_without)
        same = next(day for day in testable if self.plan.source_day(day) == source)
        tested = {self.plan.source_day(day) for day in testable}
        between = tuple(
            day
            for day in _built(self.plan)
            if last_without < day < first_with and self.plan.source_day(day) not in tested
        )
        return Truth(same, first_with, between)


def fails(plan: NightlyPlan, day: date) -> bool:
    """Whether the nightly of a day shows the failure, in any variant."""
    return CASE in plan.behaviour(day, plan.variants[0])


def hard(seed: int, days: int = 400) -> Scenario:
    """`days` dates with hidden builds, a stall, three dead nightlies, missing dates, and perhaps a change of variant."""
    rng = random.Random(seed)
    variants, last = rng.choice(_SETTINGS)
    first = last - DAY * (days - 1)

    def between(low: int, high: int) -> date:
        return first + DAY * rng.randint(low, high)

    since = between(2, days - 2)
    stall = between(1, days - 8) if rng.random() < 0.5 else max(first + DAY, since - DAY * rng.randint(0, 4))
    stall_end = min(last - DAY, stall + timedelta(rng.randint(1, 6)))
    near = [min(last - DAY, max(first + DAY, since + DAY * rng.randint(-2, 2))) for _ in range(2)]
    plan = NightlyPlan(
        first=first,
        last=last,
        variants=variants,
        pythons=("cp311", "cp312"),
        seed=seed,
        changes=(Change(CASE, since, FAILURE),),
        stalls=((stall, stall_end),),
        dead=frozenset({between(1, days - 2), *(near if rng.random() < 0.5 else (between(1, days - 2),) * 2)}),
        missing=tuple(Missing(between(1, days - 2)) for _ in range(4)),
    )
    return Scenario(seed, plan, rng.choice(_built(plan)))


def _built(plan: NightlyPlan) -> list[date]:
    """The days with a nightly in any variant."""
    return [
        day for day in plan.days() if any(plan.is_built(day, variant, plan.pythons[0]) for variant in plan.variants)
    ]
