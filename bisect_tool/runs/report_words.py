"""Small parts of a report: what states, failures and differences are called."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.history.pins import pinned_range
from bisect_tool.reports import report as parts
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.search import answer as found
from bisect_tool.search.states import Failing, Flaky, State, Untestable
from bisect_tool.trials.failure import Failed, FoundFailure
from bisect_tool.trials.volatile import without_places


@dataclass(frozen=True, slots=True)
class Names:
    """What the report calls the failures of a session."""

    session: Session

    def id_of(self, failure: str) -> str:
        """The name in the spec, else words that people can read and six digits."""
        example = self.session.failures[failure]
        return example.name or f"{name_for(example)}-{failure[:6]}"

    def told(self, reason: str) -> str:
        """A reason of the search, which knows failures by their identity, in words."""
        for failure, example in self.session.failures.items():
            reason = reason.replace(failure, example.name or example.signature.title)
        return reason


def word_of(state: State | None) -> parts.State:
    """The word of product and report for a state."""
    names: dict[type, parts.State] = {Failing: "failing", Flaky: "flaky", Untestable: "untestable"}
    return "not tried" if state is None else names.get(type(state), "pass")


def failure_names(session: Session, state: State | None) -> tuple[str, ...]:
    """What people call each failure of a state."""
    if not isinstance(state, Failing | Flaky):
        return ()
    known = [session.failures[failure] for failure in sorted(state.failures)]
    return tuple(failure.name or failure.signature.title for failure in known)


def rate_of(state: State | None) -> float | None:
    """The share of failed trials of a flaky state, None for others."""
    return round(state.failed / state.trials, 3) if isinstance(state, Flaky) else None


def telling_trial(trials: Sequence[SeenTrial]) -> SeenTrial | None:
    """The trial whose log says most: the last one that failed, else the last one."""
    failing = [trial for trial in trials if isinstance(trial.verdict, Failed)]
    shown = failing or trials
    return shown[-1] if shown else None


def signature_part(example: FoundFailure) -> parts.Signature:
    """The signature of a failure, with the text of one that showed it."""
    signature = example.signature
    return parts.Signature(
        kind=signature.kind.value,
        title=signature.title,
        types=signature.types,
        message=signature.message,
        where=signature.where,
        text=without_places(example.text),
    )


def name_for(example: FoundFailure) -> str:
    """A short name for a failure that the spec does not name: its cause and the first words of its message."""
    signature = example.signature
    cause = signature.types[-1] if signature.types else signature.kind.value
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*", signature.message)[:6]
    return "-".join([cause, *words])[:80]


def distinct_name(name: str, names: dict[tuple[str, str], str], failure: found.FailureAnswer) -> str:
    """The name, with a number behind it when another failure of the same case has it already."""
    number, tried = 1, name
    while names.get((failure.case, tried), failure.failure) != failure.failure:
        number += 1
        tried = f"{name}-{number}"
    names[failure.case, tried] = failure.failure
    return tried


def differences_of(before: Mapping[str, Any], after: Mapping[str, Any], package: str) -> tuple[parts.Difference, ...]:
    """Packages and facts that differ, but for the package under test itself."""
    left, right = dict(before.get("packages", {})), dict(after.get("packages", {}))
    if not left or not right:
        return ()
    for name in ("cuda", "cudnn", "nccl"):
        left[f"{package}: {name}"] = before.get("facts", {}).get(name)
        right[f"{package}: {name}"] = after.get("facts", {}).get(name)
    return tuple(
        parts.Difference(
            name=name,
            before=(older := _text(left.get(name))),
            after=(newer := _text(right.get(name))),
            compare=pinned_range(name, older, newer),
        )
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name) and name != package
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def cpu_name() -> str:
    """The processor's name: some failures need what only some processors have."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  a file of the kernel
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()
