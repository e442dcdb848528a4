"""From a stored observation to what the search takes: judged anew each time, so that better rules improve old results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, assert_never

from bisect_tool.runs.comparing import NOTE
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from bisect_tool.spec.model import NamedFailure
from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault, Passed, Verdict
from bisect_tool.trials.judge import judge
from bisect_tool.trials.observation import Check, Observation, Raised

KEPT_HEAD = 16 * 1024
KEPT_TAIL = 48 * 1024


def shortened(observation: Observation) -> Observation:
    """The observation with as much output as the database keeps; the log has more. Judging always sees this one."""
    output = observation.output
    if len(output) <= KEPT_HEAD + KEPT_TAIL:
        return observation
    left_out = len(output) - KEPT_HEAD - KEPT_TAIL
    return replace(
        observation, output=f"{output[:KEPT_HEAD]}\n… {left_out} characters left out …\n{output[-KEPT_TAIL:]}"
    )


def as_values(observation: Observation) -> dict[str, Any]:
    """The observation as plain values for the database."""
    return asdict(observation)


def from_values(values: Mapping[str, Any]) -> Observation:
    """The inverse of `as_values`."""
    chain = tuple(
        Raised(**{**one, "frames": tuple((file, function) for file, function in one["frames"])})
        for one in values["chain"]
    )
    own = {key: value for key, value in values.items() if key != NOTE}
    return Observation(**{**own, "chain": chain, "checks": tuple(Check(**one) for one in values["checks"])})


def verdict_of(observation: Observation, named: Sequence[NamedFailure]) -> Verdict:
    """What the observation means."""
    return judge(observation, named)


def as_result(verdict: Verdict) -> Result:
    """The verdict as the search sees it; a fault of the machine says nothing."""
    match verdict:
        case Passed():
            return Pass()
        case Failed(failures):
            return Fail(frozenset(failure.id for failure in failures))
        case CannotJudge(reason) | MachineAtFault(reason):
            return NoVerdict(reason)
        case _:
            assert_never(verdict)
