"""One change, looked at closely: every tool on the build with the failure and on its neighbour without."""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.environments.environment import Environment
from bisect_tool.environments.installing import purelib_of
from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.reports import events
from bisect_tool.reports.diagnosis import BisectorPart, CodePart, Diagnosis, RungPart
from bisect_tool.runs.diagnosing.bench import APPLICATIONS, Bench, Tried, Variation, switching
from bisect_tool.runs.diagnosing.bisector import Asked, Bisection, Stopped, names_of_applications
from bisect_tool.runs.diagnosing.changes import Change
from bisect_tool.runs.diagnosing.code_text import compare, stages_in
from bisect_tool.runs.diagnosing.evidence import LOGS, Evidence
from bisect_tool.runs.diagnosing.ladder import Blamed, Shown, Step, climb, conditions, shown_by
from bisect_tool.runs.diagnosing.naming import Bisected, files_of, names_in, words_of_bisected, words_of_rung
from bisect_tool.runs.diagnosing.rungs import rungs_for
from bisect_tool.runs.report_words import Names
from bisect_tool.spec.model import Case
from bisect_tool.trials.failure import SignatureKind
from bisect_tool.trials.process import run_process

INDUCTOR = "inductor"
HAS_SUBSYSTEMS = (INDUCTOR, "aot_eager_decomp_partition")
MINIFIER_TIME = 60.0  # seconds for making the program smaller
_PASSES = "torch/_inductor"  # where the functions of passes are looked for


@dataclass(frozen=True, slots=True)
class Visit:
    """`opened` are the environments of the change's two builds, by number."""

    bench: Bench
    evidence: Evidence
    change: Change
    opened: Mapping[int, Environment]

    def diagnosis(self) -> Diagnosis:
        """Everything that can be said about the change. Raises a `BisectError` when the machine gets in the way."""
        change, session = self.change, self.bench.session
        tried = {number: self._ladder(number) for number in (change.with_, change.without)}
        steps = [self._step(name, one) for name, one in tried[change.with_]]
        blamed = climb(steps)
        bisected, trials = self._bisect(steps, blamed)
        found = bisected if isinstance(bisected, Bisected) else None
        code = self._code()
        part = words_of_bisected(found) if found else words_of_rung(blamed.rung)
        made = Diagnosis(
            case=change.case,
            failure=Names(session).id_of(change.failure),
            build=self._label(change.with_),
            without=self._label(change.without),
            part=part,
            sentence="; ".join([blamed.sentence, *conditions(steps)]),
            rungs=tuple(self._rung(number, name, one) for number, every in tried.items() for name, one in every),
            bisector=_bisector_part(bisected, trials) if bisected is not None else None,
            code=code,
            minified=self._minified(blamed),
            files=tuple(dict.fromkeys((*self._file_of_pass(found), *files_of(blamed.rung, found)))) if part else (),
            names=names_in(found),
            evidence=self._relative(self.evidence.folder),
        )
        self.evidence.keep_summary(made.model_dump_json(indent=1))
        return made

    @property
    def _case(self) -> Case:
        return self.bench.session.asked.case(self.change.case)

    def _label(self, number: int) -> str:
        return self.bench.session.asked.builds[number].label

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.bench.cache.root))

    def _ladder(self, number: int) -> list[tuple[str, Tried]]:
        rungs = rungs_for(self.bench.session.asked.device.name)
        variations = [switching(rung.name, rung.switch) for rung in rungs]
        tried = self.bench.try_all(self._case, number, self.opened[number], variations)
        return [(rung.name, one) for rung, one in zip(rungs, tried, strict=True)]

    def _step(self, name: str, tried: Tried) -> Step:
        shown, detail = shown_by(tried.verdict, self.change.failure)
        return Step(name, shown, detail)

    def _rung(self, number: int, name: str, tried: Tried) -> RungPart:
        step = self._step(name, tried)
        return RungPart(
            rung=name,
            build=self._label(number),
            shows=step.shown.value,
            detail=step.detail,
            log=f"{tried.folder}/log.txt",
        )

    def _bisect(self, steps: Sequence[Step], blamed: Blamed) -> tuple[Bisected | Stopped | None, int]:
        """What PyTorch's bisector says, where it can know more than the ladder does."""
        shown = {step.rung: step.shown for step in steps}
        if shown.get(INDUCTOR) is not Shown.WANTED or (blamed.rung is not None and blamed.rung not in HAS_SUBSYSTEMS):
            return None, 0
        number = self.change.with_
        bisection = Bisection(self._judge_step, self._applied, shown)
        found = bisection.run(
            self.opened[number],
            self.evidence.folder / "driver",
            self.bench.environ,
            self.bench.session.asked.device.name,
        )
        return found, bisection.trials

    def _judge_step(self, asked: Asked, state: Path) -> tuple[Shown, str]:
        """One trial for the bisector, whose state lies in the folder `state`."""
        evidence, name = self.evidence, asked.name
        variation = Variation(
            name=f"compiler bisector, {name}",
            variables={"BISECT_COMPILER_STEP": name},
            places={"TORCHINDUCTOR_CACHE_DIR": str(state.parent)},
            records=True,
            is_kept=lambda: evidence.step_file(name).is_file(),
        )
        tried = self.bench.try_one(self._case, self.change.with_, self.opened[self.change.with_], variation)
        if tried.stored:
            evidence.restore_step(name, state)
        else:
            evidence.keep_step(name, state, self.bench.cache.root / tried.folder / APPLICATIONS)
        return shown_by(tried.verdict, self.change.failure)

    def _applied(self, asked: Asked) -> list[str]:
        return names_of_applications(self.evidence.applications_of(asked.name), asked.subsystem or "")

    def _code(self) -> CodePart:
        """The graphs and the code of both builds, and how they differ."""
        logs = [self._logged(number) for number in (self.change.without, self.change.with_)]
        if reasons := [reason for _, reason in logs if reason]:
            return CodePart(sentence=f"not compared: {reasons[0]}")
        labels = (self._label(self.change.without), self._label(self.change.with_))
        found = compare(stages_in(logs[0][0]), stages_in(logs[1][0]), labels)
        self.evidence.keep_diff(found.diff)
        return CodePart(stage=found.first, sentence=found.sentence, diff=found.diff)

    def _logged(self, number: int) -> tuple[str, str]:
        """What the compiler logged on a build, or the reason why that is no use."""
        label = self._label(number)
        path = self.evidence.code_log(label)
        variation = Variation(
            name="logging the code",
            variables={"TORCH_LOGS": LOGS},
            places={"TORCH_LOGS_OUT": str(path)},
            is_kept=path.is_file,
        )
        if not variation.is_kept():
            path.unlink(missing_ok=True)
        tried = self.bench.try_one(self._case, number, self.opened[number], variation)
        shown, detail = shown_by(tried.verdict, self.change.failure)
        if (shown is Shown.WANTED) != (number == self.change.with_):
            return "", f"with its log switched on {label} shows {shown.value}{f' ({detail})' if detail else ''}"
        return self.evidence.code_of(label), ""

    def _minified(self, blamed: Blamed) -> str | None:
        """Where the minifier left a smaller program; None when it left none, as for most failures that are no exceptions."""
        signature = self.bench.session.failures[self.change.failure].signature
        after = "dynamo" if blamed.rung == "eager" else "aot"
        level = "2" if signature.kind is SignatureKind.EXCEPTION else "4"
        number = self.change.with_
        if blamed.rung == "uncompiled":
            return None
        variation = Variation(
            name="minifier",
            variables={"TORCHDYNAMO_REPRO_AFTER": after, "TORCHDYNAMO_REPRO_LEVEL": level},
            places={"TORCH_COMPILE_DEBUG_DIR": str(self.evidence.minifier)},
            is_kept=self.evidence.is_minified,
        )
        tried = self.bench.try_one(self._case, number, self.opened[number], variation)
        launcher = self.evidence.launcher()
        if not tried.stored:
            if launcher is not None:
                self._minify(launcher)
            self.evidence.note_minified()
        left = self.evidence.minified()
        return None if left is None else self._relative(left)

    def _minify(self, launcher: Path) -> None:
        """Let the minifier work for a while; what it has found by then stays in its folder."""
        self.bench.tell(events.Notice(f"{self._label(self.change.with_)}: minifying for at most {MINIFIER_TIME:.0f} s"))
        opened = self.opened[self.change.with_]
        device = self.bench.session.asked.device.name
        with tempfile.TemporaryDirectory(dir=launcher.parent, prefix="caches-", ignore_cleanup_errors=True) as scratch:
            environ = isolated_environment(
                self.bench.environ, scratch=Path(scratch), programs=opened.programs, device=device
            )
            ended = run_process(
                [str(opened.programs / "python"), str(launcher)],
                environ=environ,
                folder=launcher.parent,
                timeout=MINIFIER_TIME,
                mark=uuid.uuid4().hex,
            )
        (launcher.parent / "minifier.log").write_text(ended.output, encoding="utf-8", errors="backslashreplace")

    def _file_of_pass(self, found: Bisected | None) -> tuple[str, ...]:
        """The files of this build that define a function of the name that the bisector gives."""
        names = [name for name in names_in(found) if "_" in name]
        if not names:
            return ()
        site = purelib_of(self.opened[self.change.with_].folder / "venv")
        defines = re.compile(rf"^\s*(?:def|class) (?:{'|'.join(map(re.escape, names))})\b", re.MULTILINE)
        return tuple(
            str(path.relative_to(site))
            for path in sorted((site / _PASSES).rglob("*.py"))
            if defines.search(path.read_text(errors="replace"))
        )[:3]


def _bisector_part(found: Bisected | Stopped, trials: int) -> BisectorPart:
    if isinstance(found, Stopped):
        return BisectorPart(reason=found.reason, trials=trials)
    return BisectorPart(
        backend=found.backend,
        subsystem=found.subsystem,
        number=found.number,
        of=found.of,
        what=found.what,
        trials=trials,
    )
