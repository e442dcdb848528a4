"""What a comparison says: its numbers side by side, or the trial that ended it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bisect_tool.runs.comparing import Compared, Comparison, Settled, Side
from bisect_tool.runs.quantity import number_of
from bisect_tool.search.metrics.comparison import Different, Magnitude, NeedMore, Undecided, compare
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
    """What the comparison says, None while it needs more trials; the order in which they arrive does not matter.

    The first trial that did not pass ends it, unless the pairs before have told already.
    """
    ended = [key for key, trial in sorted(comparison.trials.items()) if not isinstance(trial.verdict, Passed)]
    pairs = comparison.pairs
    if not ended:
        return _compared(comparison, pairs, terms)
    pair, side = ended[0]
    if pairs < pair:
        return None  # those before have not arrived yet
    if (told := _compared(comparison, pair, terms)) is not None:
        return told
    verdict = comparison.trials[pair, side].verdict
    return Settled(verdict if side is Side.BUILD or terms.is_reference else _unusable(verdict, terms))


def _compared(comparison: Comparison, pairs: int, terms: Terms) -> Settled | None:
    """What the numbers of the first `pairs` say."""
    numbers = [_numbers(comparison, pairs, metric, terms) for metric in terms.metrics]
    if missing := [one for one in numbers if isinstance(one, str)]:
        return Settled(CannotJudge("; ".join(missing)))
    compared: list[Compared] = []
    for metric, found in zip(terms.metrics, numbers, strict=True):
        assert not isinstance(found, str)
        finding = compare(*found, _magnitude(metric, terms))
        if isinstance(finding, NeedMore):
            return None
        start = metric.trials.warm_up
        looked_at = slice(start, start + finding.estimate.samples)
        compared.append(Compared(metric, finding, found[0][looked_at], found[1][looked_at]))
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


def _numbers(
    comparison: Comparison, pairs: int, metric: Metric, terms: Terms
) -> tuple[tuple[float, ...], tuple[float, ...]] | str:
    """The numbers of the first `pairs`, or what is wrong with the first trial that has none."""
    sides: list[tuple[float, ...]] = []
    for side, name in ((Side.REFERENCE, terms.reference), (Side.BUILD, terms.build)):
        numbers = [number_of(trial.observation, metric) for trial in comparison.of(side, pairs)]
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
        f"{estimate.low:.3g} and {estimate.high:.3g} times the reference (limit {one.metric.ratio:g}); more `trials` may tell"
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
