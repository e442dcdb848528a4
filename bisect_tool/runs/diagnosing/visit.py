"""One change, looked at closely: every tool on the build with the failure and on its neighbour without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.environments.installing import purelib_of
from bisect_tool.reports.diagnosis import BisectorPart, Diagnosis, RungPart
from bisect_tool.runs.diagnosing.bench import APPLICATIONS, NOTHING_SWITCHED, Tried, Variation, switching
from bisect_tool.runs.diagnosing.bisector import Asked, Bisection, Stopped, names_of_applications
from bisect_tool.runs.diagnosing.code_looking import look_at_code
from bisect_tool.runs.diagnosing.ladder import Blamed, Shown, Step, climb, conditions
from bisect_tool.runs.diagnosing.minifying import minify
from bisect_tool.runs.diagnosing.naming import Bisected, files_of, names_in, words_of_bisected, words_of_rung
from bisect_tool.runs.diagnosing.rungs import rungs_for
from bisect_tool.runs.diagnosing.scene import Scene
from bisect_tool.runs.report_words import Names

INDUCTOR = "inductor"
HAS_SUBSYSTEMS = (INDUCTOR, "aot_eager_decomp_partition")
_PASSES = "torch/_inductor"  # where the functions of passes are looked for


@dataclass(frozen=True, slots=True)
class Visit:
    """Everything that can be found out about the change of `scene`."""

    scene: Scene

    def diagnosis(self) -> Diagnosis:
        """What all of it says together. Raises a `BisectError` when the machine gets in the way."""
        scene, change = self.scene, self.scene.change
        tried = {number: self._ladder(number) for number in (change.with_, change.without)}
        compiles = any(len(every) > 1 for every in tried.values())
        steps = [self._step(name, one) for name, one in tried[change.with_]]
        blamed = climb(steps)
        bisected, trials = self._bisect(steps, blamed)
        found = bisected if isinstance(bisected, Bisected) else None
        part = words_of_bisected(found) if found else words_of_rung(blamed.rung)
        made = Diagnosis(
            case=change.case,
            failure=Names(scene.bench.session).id_of(change.failure),
            build=scene.label(change.with_),
            without=scene.label(change.without),
            part=part,
            sentence="; ".join([blamed.sentence, *conditions(steps)]),
            rungs=tuple(self._rung(number, name, one) for number, every in tried.items() for name, one in every),
            bisector=_bisector_part(bisected, trials) if bisected is not None else None,
            code=look_at_code(scene) if compiles else None,
            minified=minify(scene, blamed) if compiles else None,
            files=tuple(dict.fromkeys((*self._files_of_pass(found), *files_of(blamed.rung, found)))) if part else (),
            names=names_in(found),
            evidence=scene.relative(scene.evidence.folder),
        )
        scene.evidence.keep_summary(made.model_dump_json(indent=1))
        return made

    def _ladder(self, number: int) -> list[tuple[str, Tried]]:
        """Every rung on a build; one is enough where the repro has nothing to switch."""
        first, *others = rungs_for(self.scene.device)
        tried = [self.scene.try_one(number, switching(first.name, first.switch))]
        if tried[0].verdict == NOTHING_SWITCHED:
            return [(first.name, tried[0])]
        tried += self.scene.try_all(number, [switching(rung.name, rung.switch) for rung in others])
        return [(rung.name, one) for rung, one in zip((first, *others), tried, strict=True)]

    def _step(self, name: str, tried: Tried) -> Step:
        shown, detail = self.scene.shown(tried)
        return Step(name, shown, detail)

    def _rung(self, number: int, name: str, tried: Tried) -> RungPart:
        shown, detail = self.scene.shown(tried)
        label, log = self.scene.label(number), tried.log
        return RungPart(rung=name, build=label, shows=shown.value, detail=detail, log=log)

    def _bisect(self, steps: Sequence[Step], blamed: Blamed) -> tuple[Bisected | Stopped | None, int]:
        """What PyTorch's bisector says, where it can know more than the ladder does; and how many trials it took."""
        shown = {step.rung: step.shown for step in steps}
        if shown.get(INDUCTOR) is not Shown.WANTED or (blamed.rung is not None and blamed.rung not in HAS_SUBSYSTEMS):
            return None, 0
        scene = self.scene
        bisection = Bisection(self._judge_step, self._applied, shown)
        opened = scene.opened[scene.change.with_]
        return bisection.run(opened, self._scratch, scene.bench.environ, scene.device), bisection.trials

    @property
    def _scratch(self) -> Path:
        """The folder of the compiler bisector at work."""
        return self.scene.evidence.folder / "driver"

    def _judge_step(self, asked: Asked, state: Path) -> tuple[Shown, str]:
        """One trial for the bisector, whose state lies in the folder `state`."""
        scene, evidence, name = self.scene, self.scene.evidence, asked.name
        variation = Variation(
            name=f"compiler bisector, {name}",
            variables={"BISECT_COMPILER_STEP": name},
            places={"TORCHINDUCTOR_CACHE_DIR": str(state.parent)},
            written=(self._scratch,),
            records=True,
            is_kept=lambda: evidence.step_file(name).is_file(),
        )
        tried = scene.try_one(scene.change.with_, variation)
        if tried.stored:
            evidence.restore_step(name, state, self._scratch)
        else:
            evidence.keep_step(name, state, self._scratch, scene.bench.cache.root / tried.folder / APPLICATIONS)
        return scene.shown(tried)

    def _applied(self, asked: Asked) -> list[str]:
        return names_of_applications(self.scene.evidence.applications_of(asked.name), asked.subsystem or "")

    def _files_of_pass(self, found: Bisected | None) -> tuple[str, ...]:
        """The files of this build that define a function of the name that the bisector gives."""
        names = [name for name in names_in(found) if "_" in name]
        if not names:
            return ()
        site = purelib_of(self.scene.opened[self.scene.change.with_].folder / "venv")
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
