"""Which configuration to look at next when a failure does not show as it is: pure, as the rest of this room.

A configuration is the spec with some changes. Changes by themselves come before pairs of them; among these, those that are
likely for what they cost come first. A pair is only worth a look when neither of its changes has spoiled the repro by itself: a
change under which a control fails, nothing can be judged, or another failure hides the one that is looked for, does so with
company, too. A configuration reproduces when the failure has shown in `CONFIRMED` trials of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

CONFIRMED = 2  # trials that must show the failure
MOST_LOOKS = 5  # at a configuration that has shown it once: whether it comes and goes, or was an accident


class Shown(StrEnum):
    """What one look at a configuration showed."""

    WANTED = "the failure"
    OTHER = "another failure"
    PASSES = "passes"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Change:
    """One change: `value` on `axis`, with the `chance` (0 to 1) that it alone makes the failure show.

    `price` are seconds that it costs once, beyond its trials; a look takes `cost` times as long as one at the spec as it is,
    and `looks` of them are made before it is given up.
    """

    axis: str
    value: str
    chance: float
    price: float = 0.0
    cost: float = 1.0
    looks: int = 1

    @property
    def name(self) -> str:
        """`dtype float64`."""
        return f"{self.axis} {self.value}"


Configuration = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many looks, and how many seconds, the search may take. What has shown the failure is confirmed all the same."""

    looks: int = 40
    seconds: float = 1800.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What it has taken so far, and the seconds of one look at the spec as it is."""

    looks: int
    seconds: float
    look: float


@dataclass(frozen=True, slots=True)
class LookAt:
    """Look at this one; `confirms`: it has shown the failure before."""

    configuration: Configuration
    confirms: bool = False


@dataclass(frozen=True, slots=True)
class Reproduces:
    """The answer. `is_flaky`: not every look at it has shown the failure."""

    configuration: Configuration
    is_flaky: bool


@dataclass(frozen=True, slots=True)
class NoneReproduces:
    """Nothing is left to look at, or no room for the `left` ones."""

    left: int


Seen = Mapping[Configuration, Sequence[Shown]]


def decide(changes: Sequence[Change], seen: Seen, spent: Spent, limits: Limits) -> LookAt | Reproduces | NoneReproduces:
    """What comes next, given what every look at each configuration has shown."""
    for configuration, shown in seen.items():
        if shown.count(Shown.WANTED) >= CONFIRMED:
            return Reproduces(configuration, is_flaky=shown.count(Shown.WANTED) < len(shown))
    begun = next((one for one, shown in seen.items() if Shown.WANTED in shown and len(shown) < MOST_LOOKS), None)
    if begun is not None:
        return LookAt(begun, confirms=True)
    open_ones = [one for one in configurations(changes, seen) if not is_given_up(one, seen.get(one, ()))]
    affordable = [one for one in open_ones if _is_affordable(one, seen.get(one, ()), spent, limits)]
    return LookAt(affordable[0]) if affordable else NoneReproduces(len(open_ones))


def is_given_up(configuration: Configuration, shown: Sequence[Shown]) -> bool:
    """Whether further looks are not worth it."""
    if Shown.NOT_JUDGED in shown or len(shown) >= MOST_LOOKS:
        return True
    return Shown.WANTED not in shown and len(shown) >= looks_at(configuration)


def looks_at(configuration: Configuration) -> int:
    """How often a configuration is looked at before it is given up."""
    return max((change.looks for change in configuration), default=1)


def configurations(changes: Sequence[Change], seen: Seen) -> Iterator[Configuration]:
    """Every configuration that may be worth a look, in the order in which they come."""
    singles = sorted(((change,) for change in changes), key=_rank)
    yield from singles
    sound = [change for (change,) in singles if _is_sound(seen.get((change,), ()))]
    pairs = [(one, other) for one, other in combinations(sound, 2) if one.axis != other.axis]
    yield from sorted(pairs, key=_rank)


def _is_sound(shown: Sequence[Shown]) -> bool:
    return not {Shown.OTHER, Shown.NOT_JUDGED} & set(shown)


def _rank(configuration: Configuration) -> float:
    """The smaller the better: seconds for each chance. Equal ones keep the order in which the changes were given."""
    chance = 1.0
    for change in configuration:
        chance *= change.chance
    return seconds_of(configuration, 1.0) / chance if chance > 0 else float("inf")


def seconds_of(configuration: Configuration, look: float) -> float:
    """What all looks at a configuration take, when one at the spec as it is takes `look` seconds."""
    cost = 1.0
    for change in configuration:
        cost *= change.cost
    return sum(change.price for change in configuration) + looks_at(configuration) * cost * look


def _is_affordable(configuration: Configuration, shown: Sequence[Shown], spent: Spent, limits: Limits) -> bool:
    left = looks_at(configuration) - len(shown)
    is_short = spent.seconds + seconds_of(configuration, spent.look) <= limits.seconds
    return spent.looks + left <= limits.looks and is_short
