"""From what the rungs of the ladder show to the part of the compiler. Pure.

Only the failure that is looked for counts. Another failure on a rung hides it, and says nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from bisect_tool.runs.diagnosing.rungs import LADDER, rung_called
from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault, Passed, Verdict


class Shown(StrEnum):
    """What a trial says about one failure."""

    WANTED = "the failure"
    PASSES = "passes"
    OTHER = "another failure"
    NOT_JUDGED = "cannot judge"


@dataclass(frozen=True, slots=True)
class Step:
    """One rung that was tried; `detail` names the other failure, or the reason why it cannot be judged."""

    rung: str
    shown: Shown
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Blamed:
    """What the ladder says: the first rung that has the failure, None when it does not tell; `sentence` says it or why."""

    rung: str | None
    sentence: str


def shown_by(verdict: Verdict, wanted: str) -> tuple[Shown, str]:
    """What a verdict says about the failure `wanted`, by its identity, with the detail of a `Step`."""
    match verdict:
        case Passed():
            return Shown.PASSES, ""
        case Failed(failures):
            if any(failure.id == wanted for failure in failures):
                return Shown.WANTED, ""
            if all("Invalid backend" in failure.signature.title for failure in failures):
                return Shown.NOT_JUDGED, "this build has no such backend"
            return Shown.OTHER, "; ".join(failure.name or failure.signature.title for failure in failures)
        case CannotJudge(reason) | MachineAtFault(reason):
            return Shown.NOT_JUDGED, reason
        case _:
            assert_never(verdict)


def climb(steps: Sequence[Step]) -> Blamed:
    """The rung at which the failure begins, when those below pass and those above have it."""
    found = {step.rung: step for step in steps}
    ladder = [found[rung.name] for rung in LADDER if rung.name in found]
    first = next((number for number, step in enumerate(ladder) if step.shown is Shown.WANTED), None)
    if first is None:
        hidden = [f"{step.rung}: {step.detail}" for step in ladder if step.shown in (Shown.OTHER, Shown.NOT_JUDGED)]
        return Blamed(None, f"no rung of the ladder shows the failure{f' ({hidden[-1]})' if hidden else ''}")
    cured = [step.rung for step in ladder[first + 1 :] if step.shown is Shown.PASSES]
    if cured:
        return Blamed(None, f"{ladder[first].rung} fails and {cured[0]}, which runs more, does not")
    name = ladder[first].rung
    if first == 0:
        return Blamed(name, "it fails without the compiler, too")
    before = ladder[first - 1]
    if before.shown is Shown.PASSES:
        return Blamed(name, f"{before.rung} passes, {name} fails: it is in {rung_called(name).adds}")
    why = before.detail or before.shown.value
    return Blamed(None, f"{name} fails, and {before.rung} cannot be told: {why}")


def conditions(steps: Sequence[Step]) -> tuple[str, ...]:
    """What dynamic shapes and CUDA graphs do to the failure, where that is worth saying."""
    shown = {step.rung: step.shown for step in steps}
    told = (
        _condition(shown, "inductor, dynamic shapes", "inductor, static shapes", "dynamic shapes", "static shapes"),
        _condition(shown, "inductor, CUDA graphs", "inductor, no CUDA graphs", "CUDA graphs", "no CUDA graphs"),
    )
    return tuple(sentence for sentence in told if sentence)


def _condition(shown: Mapping[str, Shown], one: str, other: str, with_one: str, with_other: str) -> str:
    match shown.get(one), shown.get(other):
        case Shown.WANTED, Shown.PASSES:
            return f"only with {with_one}"
        case Shown.PASSES, Shown.WANTED:
            return f"only with {with_other}"
        case Shown.WANTED, Shown.WANTED:
            return f"with {with_one} and with {with_other} alike"
        case _:
            return ""
