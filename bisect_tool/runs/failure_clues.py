"""What a failure of a session says about the commit to look for: its traceback, its text, the repro, the cases beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bisect_tool.history.clues import TORCH_COMPILER, Clues, Sought, collect_clues, frames_in
from bisect_tool.history.parts import Part
from bisect_tool.history.projects import Project
from bisect_tool.reports.report import Difference
from bisect_tool.runs.judging import from_values
from bisect_tool.runs.session import Session
from bisect_tool.search.states import Passing
from bisect_tool.spec.model import Case, Spec
from bisect_tool.spec.repro import Repro
from bisect_tool.trials.failure import Failed, FoundFailure, SignatureKind
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.traceback_text import parse

# What cross tests call a part, and what a commit must touch then. No commit of this package need change another one, nor a
# CUDA library: the index may have had a newer one.
PARTS = {
    "Python files": Part.PYTHON,
    "binaries": Part.NATIVE,
    "triton": Part.TRITON,
}
_EAGER = re.compile(r"\b(?:aot_)?eager\b")


@dataclass(slots=True)
class FailureClues:
    """The clues of the failures of one session."""

    session: Session
    _observations: dict[str, Observation] = field(default_factory=dict)

    def of(
        self,
        failure: str,
        case: str,
        sought: Sought,
        build: int,
        differences: Sequence[Difference],
        part: str | None = None,
    ) -> Clues:
        """Those of a failure of a case; `build` shows it, `differences` are between the two environments.

        `part` is the one that makes the change, as cross tests call it (`Python files`, `binaries`, `triton`, …).
        """
        asked = self.session.asked
        example = self.session.failures[failure]
        chain = self._chain(failure, case)
        said = "\n".join(f"{raised.type}: {raised.message}" for raised in chain) or example.text
        clues = collect_clues(
            sought=sought,
            failure="\n".join([said, example.signature.message, *matches_of(asked.spec, example.name)]),
            script=script_text(asked.repro),
            files=TORCH_COMPILER if self._is_of_the_compiler(case, build) else (),
            pins=pins_of(differences),
            part=PARTS.get(part or ""),
        )
        clues = replace(clues, issue=issue_of(asked.spec, asked.project))
        return replace(clues, frames=frames_in(frames_text(chain, example))) if chain else clues

    def _chain(self, failure: str, case: str) -> tuple[Raised, ...]:
        """The exceptions of a trial that showed the failure, as the hook wrote them or as they were printed."""
        if self.session.failures[failure].signature.kind is not SignatureKind.EXCEPTION:
            return ()
        folders = (
            trial.folder
            for (name, _), trials in self.session.seen.items()
            if name == case
            for trial in trials
            if isinstance(trial.verdict, Failed) and any(one.id == failure for one in trial.verdict.failures)
        )
        known = self._read()
        observation = next((known[folder] for folder in folders if folder in known), None)
        return () if observation is None else observation.chain or parse(observation.output)

    def _read(self) -> dict[str, Observation]:
        """What the trials left, by folder; read once, because a session keeps verdicts only."""
        asked = self.session.asked
        if not self._observations:
            for setting in asked.settings:
                for trial in self.session.results.trials_of(asked.repro.digest, setting, asked.device.kind):
                    self._observations[trial.folder] = from_values(trial.observation)
        return self._observations

    def _is_of_the_compiler(self, case: str, build: int) -> bool:
        """Whether another case shows that the same code is right without the compiler."""
        asked = self.session.asked
        if asked.spec.package != "torch" or _is_eager(asked.case(case)):
            return False
        others = (other.name for other in asked.spec.cases if other.name != case and _is_eager(other))
        return any(isinstance(self.session.state(other, build), Passing) for other in others)


def issue_of(spec: Spec, project: Project | None) -> int | None:
    """The number of the report that the spec names, None when it is not in the tracker of the project itself."""
    if spec.issue is None or project is None:
        return None
    found = re.fullmatch(rf"{re.escape(project.address)}/(?:issues|pull)/(\d+)(?:[#?].*)?", spec.issue, re.IGNORECASE)
    return int(found[1]) if found else None


def pins_of(differences: Iterable[Difference]) -> tuple[str, ...]:
    """The packages whose versions differ."""
    return tuple(one.name for one in differences if ": " not in one.name)


def script_text(repro: Repro) -> str:
    """The repro's source."""
    return "\n".join(content.decode("utf-8", "replace") for name, content in repro.files if name.endswith(".py"))


def matches_of(spec: Spec, name: str | None) -> Iterator[str]:
    """What the spec says that a failure looks like, without the signs of regular expressions."""
    return (re.sub(r"\\\w|[^\w. ]", " ", failure.match) for failure in spec.failures if failure.name == name)


def frames_text(chain: Sequence[Raised], example: FoundFailure) -> str:
    """The frames of the exceptions as a traceback prints them, those of the one that the failure is named after last.

    What it was raised in is the innermost place, not what wrapped it or was raised while it was handled.
    """
    cause = example.signature.types[-1] if example.signature.types else ""
    at = max((n for n, raised in enumerate(chain) if raised.type.rsplit(".", 1)[-1] == cause), default=len(chain) - 1)
    ordered = [*chain[:at], *chain[at + 1 :], chain[at]]
    return "\n".join(f'File "{file}", line 0, in {name}' for raised in ordered for file, name in raised.frames)


def _is_eager(case: Case) -> bool:
    return any(_EAGER.search(word) for word in (case.name, *case.args, *case.env.values()))
