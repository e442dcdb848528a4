"""Comparisons: the trials of a build and of the reference build that were made in turn, and what they say together.

Each trial of a comparison is stored like any other, with a note (`Note`) that says which comparison it belongs to. What
the comparison says is worked out anew from the stored trials each time, so that another ratio in the spec needs no new
trials. One comparison counts as one trial of the case on the build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any

from bisect_tool.runs.quantity import number_of
from bisect_tool.search.metrics.comparison import Different, Magnitude, NeedMore, Same, Undecided, compare
from bisect_tool.spec.model import Metric, NamedFailure
from bisect_tool.trials.failure import (
    CannotJudge,
    Failed,
    FoundFailure,
    MachineAtFault,
    Passed,
    Signature,
    SignatureKind,
    Verdict,
)
from bisect_tool.trials.observation import Observation

NOTE = "measured"  # the key of the note beside the fields of a stored observation


class Side(StrEnum):
    """Which of the two builds a trial ran."""

    REFERENCE = "reference"
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class Note:
    """What a stored trial says of the comparison that it was made for.

    `about` is the key of the build under test, `against` that of the reference (`Session.trial_key`). `machine` is the
    machine since its last start: a comparison is never continued elsewhere.
    """

    comparison: str
    about: str
    against: str
    side: Side
    pair: int
    machine: str

    def as_values(self) -> dict[str, Any]:
        """Plain values for the database."""
        return {NOTE: asdict(self)}


def note_of(values: Mapping[str, Any]) -> Note | None:
    """The note of a stored observation."""
    noted = values.get(NOTE)
    return None if noted is None else Note(**{**noted, "side": Side(noted["side"])})


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison said of one metric, with the numbers that were looked at, in pairs."""

    metric: Metric
    finding: Same | Different | Undecided
    reference: tuple[float, ...]
    build: tuple[float, ...]

    def __str__(self) -> str:
        found, unit = self.finding.estimate, f" {self.metric.unit}" if self.metric.unit else ""
        word = type(self.finding).__name__.lower()
        return (
            f"{self.metric.name} {found.build:.4g}{unit} against {found.reference:.4g}{unit}: {found.ratio:.2f}x "
            f"({found.low:.2f} to {found.high:.2f}) after {found.samples} trials of each build, {word}"
        )

    @property
    def looked_at(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The numbers of the reference and of the build that the finding rests on."""
        start = self.metric.trials.warm_up
        end = start + self.finding.estimate.samples
        return self.reference[start:end], self.build[start:end]


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial of a comparison."""

    observation: Observation
    verdict: Verdict
    folder: str
    command: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A comparison that needs no more trials."""

    verdict: Verdict
    compared: tuple[Compared, ...] = ()


@dataclass(slots=True)
class Comparison:
    """The trials of one comparison by pair and side; a trial that was made again counts as it was the last time."""

    note: Note
    trials: dict[tuple[int, Side], Measured] = field(default_factory=dict)
    settled: Settled | None = None

    @property
    def pairs(self) -> int:
        """How many pairs are complete, from the first one on."""
        number = 0
        while all((number, side) in self.trials for side in Side):
            number += 1
        return number

    def of(self, side: Side) -> tuple[Measured, ...]:
        """The trials of one side in complete pairs."""
        return tuple(self.trials[number, side] for number in range(self.pairs))


@dataclass(frozen=True, slots=True)
class Terms:
    """What a comparison is judged by: the metrics, the names of failures, what the two builds are called.

    `is_reference` says that the build is the reference: then the comparison shows how steady the machine is.
    """

    metrics: tuple[Metric, ...]
    named: Sequence[NamedFailure]
    reference: str
    build: str
    is_reference: bool


def settle(comparison: Comparison, terms: Terms) -> Settled | None:
    """What the comparison says, None while it needs more trials."""
    for (_, side), trial in sorted(comparison.trials.items()):
        if not isinstance(trial.verdict, Passed):
            is_own = side is Side.BUILD or terms.is_reference
            return Settled(trial.verdict if is_own else _unusable(trial.verdict, terms))
    numbers = [_numbers(comparison, metric, terms) for metric in terms.metrics]
    compared: list[Compared] = []
    if missing := [one for one in numbers if isinstance(one, str)]:
        return Settled(CannotJudge("; ".join(missing)))
    for metric, found in zip(terms.metrics, numbers, strict=True):
        assert not isinstance(found, str)
        finding = compare(*found, _magnitude(metric, terms))
        if isinstance(finding, NeedMore):
            return None
        compared.append(Compared(metric, finding, *found))
    return Settled(_verdict(compared, terms), tuple(compared))


def _unusable(verdict: Verdict, terms: Terms) -> CannotJudge:
    match verdict:
        case Failed(failures):
            why = ", ".join(failure.name or failure.signature.title for failure in failures)
        case CannotJudge(reason) | MachineAtFault(reason):
            why = reason
        case Passed():
            raise AssertionError("a reference that passed can be compared with")
    return CannotJudge(f"the reference build {terms.reference} did not pass: {why}")


def _numbers(comparison: Comparison, metric: Metric, terms: Terms) -> tuple[tuple[float, ...], tuple[float, ...]] | str:
    """The numbers of both sides, or what is wrong with the first trial that has none."""
    sides: list[tuple[float, ...]] = []
    for side, name in ((Side.REFERENCE, terms.reference), (Side.BUILD, terms.build)):
        numbers = [number_of(trial.observation, metric) for trial in comparison.of(side)]
        if missing := [number for number in numbers if isinstance(number, str)]:
            return f"on {name}: {missing[0]}"
        sides.append(tuple(number for number in numbers if not isinstance(number, str)))
    return sides[0], sides[1]


def _magnitude(metric: Metric, terms: Terms) -> Magnitude:
    """The reference against itself is looked at once: that it is the same needs no proof, only that it shows."""
    least, most = metric.trials.least, metric.trials.most
    return Magnitude(metric.ratio, least, least if terms.is_reference else most, metric.trials.warm_up)


def _verdict(compared: Sequence[Compared], terms: Terms) -> Verdict:
    different = [one for one in compared if isinstance(one.finding, Different)]
    if different and terms.is_reference:
        told = "; ".join(_told(one, terms) for one in different)
        return CannotJudge(f"the reference differs from itself, this machine is too unsteady: {told}")
    undecided = [_spread(one) for one in compared if isinstance(one.finding, Undecided)]
    if undecided and not terms.is_reference:
        return CannotJudge("; ".join(undecided))
    return Failed(tuple(_failure(one, terms) for one in different)) if different else Passed()


def _spread(one: Compared) -> str:
    estimate = one.finding.estimate
    return (
        f"`{one.metric.name}` spreads too much to tell after {estimate.samples} trials of each build: between "
        f"{estimate.low:.3g} and {estimate.high:.3g} times the reference (limit {one.metric.ratio:g})"
    )


def _told(one: Compared, terms: Terms) -> str:
    ratio = one.finding.estimate.ratio
    return f"{one.metric.name} is {ratio:.3g} times that of {terms.reference} (limit {one.metric.ratio:g})"


def _failure(one: Compared, terms: Terms) -> FoundFailure:
    """The failure that a number shows; its identity does not depend on how large it is."""
    metric = one.metric
    word = "above" if metric.ratio > 1 else "below"
    phrase = f"{metric.name} {word} {metric.ratio:g}x of {terms.reference}"
    signature = Signature(SignatureKind.METRIC, phrase, title=_told(one, terms))
    text = "\n".join((_listed("reference", terms.reference, one.reference), _listed("build", terms.build, one.build)))
    searched = f"{signature.title}\n{text}"
    named = next((name.name for name in terms.named if re.search(name.match, searched, re.MULTILINE)), None)
    return FoundFailure(f"={named}" if named else signature.identity, signature, text, named or phrase)


def _listed(side: str, version: str, numbers: Sequence[float]) -> str:
    told = " ".join(f"{number:.5g}" for number in numbers)
    return f"{side} {version}: {told} (median {median(numbers):.5g})"
