"""Runs a case of a session in other ways than the spec says, each stored like any trial, so that a kill loses nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from bisect_tool.environments import environment as environments
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.reports import events
from bisect_tool.runs.judging import as_values, from_values, shortened, verdict_of
from bisect_tool.runs.session import Session
from bisect_tool.spec.model import Case
from bisect_tool.spec.repro import case_digest
from bisect_tool.stopping import Stop
from bisect_tool.store.results import StoredTrial
from bisect_tool.trials.failure import CannotJudge, MachineAtFault, Verdict
from bisect_tool.trials.left_files import read_left
from bisect_tool.trials.trial import run_trial

HOOK = Path(environments.__file__).with_name("compile_switch.py")
SEEN = "compile-seen.txt"
APPLICATIONS = "applications.txt"
LONGEST_NOTE = 16 * 1024 * 1024  # bytes of what a trial wrote about itself
ATTEMPTS = 2  # of a trial that the machine spoiled
NOTHING_SWITCHED = CannotJudge("the repro came to no call of torch.compile with Inductor, so nothing was switched")


@dataclass(frozen=True, slots=True)
class Variation:
    """Another way to run a case. `variables` decide what it does, and what its result is stored under.

    `places` are variables that name files and folders: they change nothing about the result; `written` are the folders in which
    these lie, which nothing but this tool can have made. `switches`: `torch.compile` is replaced, which must be seen to have
    happened. `records`: the applications that the compiler bisector counts are written down. `is_kept` says whether what a
    stored trial left besides is still there, `clear` takes away what an earlier one left.
    """

    name: str
    variables: Mapping[str, str] = field(hash=False)
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    written: tuple[Path, ...] = ()
    switches: bool = False
    records: bool = False
    is_kept: Callable[[], bool] = field(default=lambda: True, hash=False)
    clear: Callable[[], None] = field(default=lambda: None, hash=False)


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial of a variation showed; `folder` is relative to the cache. `stored`: it was known before.

    `kept` is the address of its log where logs are shared.
    """

    verdict: Verdict
    folder: str
    stored: bool = False
    kept: str | None = None

    @property
    def log(self) -> str:
        """Where its log is."""
        return self.kept or f"{self.folder}/log.txt"


def switching(name: str, switch: Mapping[str, object]) -> Variation:
    """The variation that makes `torch.compile` do something else."""
    return Variation(name, {"BISECT_COMPILE": json.dumps(switch, sort_keys=True)}, switches=True)


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs variations for `session`; `evidence` is a folder that stays, `jobs` how many trials may run side by side."""

    session: Session
    cache: CacheFolder
    environ: Mapping[str, str] = field(repr=False)
    tell: Callable[[events.Event], None]
    evidence: Path
    jobs: int = 1
    _one_speaks: Lock = field(default_factory=Lock, repr=False)

    def try_all(
        self, case: Case, number: int, opened: environments.Environment, variations: Sequence[Variation]
    ) -> list[Tried]:
        """Every one of `variations` on an open build, in their order."""
        if self.jobs == 1:
            return [self.try_one(case, number, opened, one) for one in variations]
        stop = Stop()
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                return list(pool.map(lambda one: self.try_one(case, number, opened, one, stop), variations))
            except BaseException:
                stop.set()
                raise

    def try_one(
        self,
        case: Case,
        number: int,
        opened: environments.Environment,
        variation: Variation,
        stop: Stop | None = None,
    ) -> Tried:
        """One trial, or what the store has of it.

        Raises a `BisectError` when nothing can be run at all; a trial that the machine spoils twice cannot be judged.
        """
        varied = case.model_copy(update={"env": {**case.env, **variation.variables}})
        known = self._known(varied, number, variation)
        if known is not None:
            return known
        version = self.session.asked.builds[number].version
        with self._one_speaks:  # views are not made for several threads
            self.tell(events.Notice(f"{version}: {case.name}, {variation.name}"))
        for _ in range(ATTEMPTS):
            variation.clear()
            tried = self._run(varied, number, opened, variation, stop)
            if not isinstance(tried.verdict, MachineAtFault):
                break
        return tried

    def _known(self, varied: Case, number: int, variation: Variation) -> Tried | None:
        """What an earlier run learned of it."""
        session, asked = self.session, self.session.asked
        subject, digest = session.subject(number), case_digest(varied, asked.spec)
        if asked.wishes.fresh or not variation.is_kept():
            return None
        for trial in session.results.trials_of(asked.repro.digest, subject.setting, subject.device):
            if (trial.case_digest, trial.subject.identity) == (digest, subject.identity):
                folder = self.cache.root / trial.folder
                if variation.switches and not (folder / "observation.json").is_file():
                    continue
                verdict = verdict_of(from_values(trial.observation), asked.spec.failures)
                return Tried(self._believed(verdict, folder, variation), trial.folder, stored=True, kept=trial.log)
        return None

    def _run(
        self, varied: Case, number: int, opened: environments.Environment, variation: Variation, stop: Stop | None
    ) -> Tried:
        asked = self.session.asked
        folder = self.cache.trials / f"{time.strftime('%Y%m%d')}-{uuid.uuid4().hex[:12]}"
        order = asked.order(varied)
        variables = {**order.variables, **variation.places}
        shown: tuple[Path, ...] = ()
        if variation.switches or variation.records:
            place = self._hook()
            shown = (place,)
            variables["PYTHONPATH"] = ":".join(part for part in (str(place), variables.get("PYTHONPATH", "")) if part)
        if variation.switches:
            variables["BISECT_COMPILE_SEEN"] = str(folder / SEEN)
        if variation.records:
            variables["BISECT_APPLICATIONS"] = str(folder / APPLICATIONS)
        order = replace(order, variables=variables, shown=shown, written=variation.written)
        finished = run_trial(order, programs=opened.programs, folder=folder, environ=self.environ, stop=stop)
        observation = shortened(finished.observation)
        verdict = verdict_of(observation, asked.spec.failures)
        relative = str(folder.relative_to(self.cache.root))
        if isinstance(verdict, MachineAtFault):
            return Tried(verdict, relative)
        kept = self.session.results.keep_log(folder)
        self.session.results.add_trial(
            StoredTrial(
                subject=self.session.subject(number),
                repro=asked.repro.digest,
                case_digest=case_digest(varied, asked.spec),
                case_name=f"{varied.name} [{variation.name}]",
                package=asked.spec.package,
                version=asked.builds[number].version,
                observation=as_values(observation),
                folder=relative,
                command=finished.command,
                duration=observation.duration,
                log=kept,
            )
        )
        return Tried(self._believed(verdict, folder, variation), relative, kept=kept)

    def _hook(self) -> Path:
        """The folder that makes Python load the hook, before what the spec itself puts on its path."""
        place = self.evidence / f"hook-{hashlib.sha256(HOOK.read_bytes()).hexdigest()[:8]}"
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "sitecustomize.py").exists():
            # Whole or not at all: several trials may begin at once.
            part = place / f"part-{uuid.uuid4().hex}"
            shutil.copyfile(HOOK, part)
            part.replace(place / "sitecustomize.py")
        return place

    def _believed(self, verdict: Verdict, folder: Path, variation: Variation) -> Verdict:
        """The verdict, unless nothing was switched: then it is one of the repro as it is, and says nothing here."""
        if not variation.switches:
            return verdict
        try:
            calls = read_left(folder, SEEN, LONGEST_NOTE).decode("utf-8", "replace").split("\n")
        except OSError:
            calls = []
        if "switched" in calls:
            return verdict
        left = sorted({line.removeprefix("left ") for line in calls if line.startswith("left ")})
        if left:
            return CannotJudge(f"the repro names a backend of its own: {', '.join(left)}")
        return NOTHING_SWITCHED
