"""Cross tests on the two builds of a change (`--isolate`): which part of them makes it?

The environment of one build is given a part of the other one: triton, the CUDA libraries, all other packages, the Python
files of the package under test. A part carries the change when the newer build with the older part shows the older state,
and the older build with the newer part shows the newer one. `docs/commits.md` says what that can and cannot tell.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.environment import BuildUnusable, Environment
from bisect_tool.environments.installing import purelib_of
from bisect_tool.environments.mixing import Swap, has_binaries
from bisect_tool.reports import events
from bisect_tool.reports.report import CrossTest, Isolation
from bisect_tool.runs.judging import as_result, shortened, verdict_of
from bisect_tool.runs.part_of_change import CUDA, OTHERS, PYTHON, TRITON, conclude, sentence
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import COMMITS
from bisect_tool.search.states import Failing, Flaky, NoVerdict, Passing, Result, State, Untestable, face, state_of
from bisect_tool.trials.failure import Failed, MachineAtFault
from bisect_tool.trials.overlay import misfit
from bisect_tool.trials.trial import run_trial

_TRITON = frozenset(
    {"triton", "pytorch-triton", "torchtriton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton-xpu"}
)
_CUDA = re.compile(r"^(nvidia|cuda)-")
_TRIALS = 2  # of each case on each mixture; they must agree


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Runs the cross tests of `session`, whose builds are whole ones. `environ` is what processes may inherit of."""

    session: Session
    cache: CacheFolder
    environ: Mapping[str, str]
    tell: Callable[[events.Event], None]

    def isolate(self) -> tuple[Isolation, ...]:
        """What the cross tests say of the first change; nothing without one, or where the two builds differ in Python.

        Raises a `BisectError` when the machine gets in the way.
        """
        asked = self.session.asked
        pairs = self.session.boundaries()
        if (
            not pairs
            or asked.stage.channel == COMMITS
            or asked.interpreter_of(pairs[0][0]) != asked.interpreter_of(pairs[0][1])
        ):
            return ()
        changed = [case.name for case in asked.spec.tests if self._changes(case.name, *pairs[0])]
        if not changed:
            return ()
        with ExitStack() as stack:
            try:
                opened = {number: stack.enter_context(self.session.environment(number)) for number in pairs[0]}
            except BuildUnusable:
                return ()
            parts = dict(self._parts(*(opened[number] for number in pairs[0])))
            tests = [
                (case, self._cross(case, base, donor, opened, part, swap, pairs[0]))
                for part, swap in parts.items()
                for donor, base in (pairs[0], pairs[0][::-1])
                for case in changed
            ]
        return tuple(
            self._concluded(case, pairs[0], [test for name, test in tests if name == case], parts) for case in changed
        )

    def _changes(self, case: str, before: int, after: int) -> bool:
        states = [self.session.state(case, number) for number in (before, after)]
        judged = [state for state in states if isinstance(state, Passing | Failing)]
        return len(judged) == len(states) and face(judged[0]) != face(judged[1])

    def _parts(self, before: Environment, after: Environment) -> Iterator[tuple[str, Swap]]:
        """The parts in which the two differ; the binaries are what is left of the package without its Python files."""
        package = canonicalize_name(self.session.asked.spec.package)
        left, right = dict(before.health.packages), dict(after.health.packages)
        differing = {
            name for name in left.keys() | right.keys() if left.get(name) != right.get(name) and name != package
        }
        groups = {
            TRITON: differing & _TRITON,
            CUDA: {name for name in differing if _CUDA.match(name)},
        }
        groups[OTHERS] = differing - groups[TRITON] - groups[CUDA]
        yield from ((part, Swap(frozenset(names))) for part, names in groups.items() if names)
        if all(has_binaries(purelib_of(one.folder / "venv"), package) for one in (before, after)):
            yield PYTHON, Swap(python_of=package)

    def _cross(
        self,
        case: str,
        base: int,
        donor: int,
        opened: Mapping[int, Environment],
        part: str,
        swap: Swap,
        pair: tuple[int, int],
    ) -> CrossTest:
        asked = self.session.asked
        labels = asked.builds[base].label, asked.builds[donor].label
        self.tell(events.Notice(f"{labels[0]} with {part} of {labels[1]}: {case}"))
        key = asked.environment_key(base)
        try:
            with self.session.environments.mixed(key, opened[base], opened[donor], swap, asked.device.name) as mixture:
                state = state_of([self._run(case, mixture) for _ in range(_TRIALS)])
        except BuildUnusable as error:
            state = Untestable(str(error))
        shown = "not judged"
        if isinstance(state, Passing | Failing | Flaky):
            same = [number for number in pair if self._shows(case, number, state)]
            shown = ("before" if same[0] == pair[0] else "after") if same else "neither"
        return CrossTest.model_validate(
            {
                "base": labels[0],
                "part": part,
                "taken_from": labels[1],
                "shows": shown,
                "failures": self._names(state),
                "reason": state.reason if isinstance(state, Untestable) else None,
            }
        )

    def _shows(self, case: str, number: int, state: Passing | Failing | Flaky) -> bool:
        whole = self.session.state(case, number)
        return isinstance(whole, Passing | Failing) and not isinstance(state, Flaky) and face(whole) == face(state)

    def _names(self, state: State | None) -> tuple[str, ...]:
        if not isinstance(state, Failing | Flaky):
            return ()
        known = self.session.failures
        return tuple(
            known[one].name or known[one].signature.title if one in known else one for one in sorted(state.failures)
        )

    def _run(self, case: str, mixture: Environment) -> Result:
        asked = self.session.asked
        finished = run_trial(
            asked.order(asked.case(case)),
            programs=mixture.programs,
            folder=self.cache.trials / f"{time.strftime('%Y%m%d')}-{uuid.uuid4().hex[:12]}",
            environ=self.environ,
        )
        verdict = verdict_of(shortened(finished.observation), asked.spec.failures)
        if isinstance(verdict, MachineAtFault):
            return NoVerdict(verdict.reason)
        if isinstance(verdict, Failed) and (reason := misfit(verdict.failures, frozenset(self.session.failures))):
            return NoVerdict(f"the two do not fit: {reason}")
        return as_result(verdict)

    def _concluded(
        self, case: str, pair: tuple[int, int], tests: list[CrossTest], parts: Mapping[str, Swap]
    ) -> Isolation:
        before, after = (self.session.asked.builds[number].label for number in pair)
        made = tuple(tests)
        part = conclude(made, after, has_python=PYTHON in parts)
        package = self.session.asked.spec.package
        told = sentence(
            part, package, before, after, case, parts[OTHERS].distributions if OTHERS in parts else frozenset()
        )
        return Isolation(case=case, before=before, after=after, part=part, sentence=told, tests=made)
