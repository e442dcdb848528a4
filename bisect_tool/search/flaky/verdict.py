"""What a study of one flaky failure can end with."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.search.flaky.interval import Rate


@dataclass(frozen=True, slots=True)
class Found:
    """The rate changes after `before` and not after `after`, with at least the confidence asked for.

    `holes` are the builds between that could not be tested or were not tried: without any, the two are neighbours.
    `older` and `newer` are the rates of all judged builds on either side.
    """

    before: int
    after: int
    confidence: float
    older: Rate
    newer: Rate
    holes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NoReliableChange:
    """The ends of the range, `low` and `high`, show the failure alike, or nearly so: nothing is named.

    `strength` is what a bet against "alike" had become (1 in the beginning; a name asks for 0.8 / doubt).
    """

    low: int
    high: int
    older: Rate
    newer: Rate
    strength: float


@dataclass(frozen=True, slots=True)
class NotConverged:
    """The budget ended first: the change lies after `before` and not after `after` with the confidence asked for.

    `chance` is that of the best place between them. With `is_settled` False not even the ends were told apart.
    """

    before: int
    after: int
    chance: float
    older: Rate
    newer: Rate
    is_settled: bool


Verdict = Found | NoReliableChange | NotConverged
