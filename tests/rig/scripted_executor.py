"""An executor without processes: jobs end in an order that a random source draws, as a history says; and a question for it.

Checks what every executor may rely on: one job at a time in a slot, and no trial of one case on one build twice at once.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bisect_tool.builds.bounds import Selection
from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import BuildUnusable, Checking, Environment, Environments, Making
from bisect_tool.environments.health import Health
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.uv import Uv
from bisect_tool.errors import DiskFull, MachineFault
from bisect_tool.reports import events
from bisect_tool.runs.ahead import Ahead
from bisect_tool.runs.allowance import Allowance
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.device import Device
from bisect_tool.runs.diary import Diary
from bisect_tool.runs.executors import (
    AheadEnded,
    AheadTold,
    Arrival,
    Ended,
    Held,
    HoldLock,
    Job,
    NoSlotCame,
    Opened,
    OpenEnvironment,
    RanTrial,
    Result,
    RunTrial,
    SlotFull,
    SlotLost,
    SlotsJoined,
    SlotsRested,
    Told,
)
from bisect_tool.runs.executors.slotted.holding import hold
from bisect_tool.runs.loop import Loop
from bisect_tool.runs.session import Session
from bisect_tool.runs.spending import Ledger
from bisect_tool.runs.surveying import Stage, Wishes
from bisect_tool.search.policy import Policy
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import Repro
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.store.results import Results
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.trial import FinishedTrial
from tests.rig.histories import History

PYTHON = Interpreter(Path("/python"), "3.11.7", "cpython", False, "x86_64", Path("/packages"), False)  # noqa: FBT003


class Killed(BaseException):
    """The tool is killed at this point."""


@dataclass
class Lease:
    """Counts what is open."""

    open_ones: set[str]
    name: str

    def close(self) -> None:
        """Let go of it."""
        self.open_ones.remove(self.name)


@dataclass
class ScriptedExecutor:
    """Ends one job at each call of `arrivals`. `lose` says after how many trials which slot is lost; `kill_after` so many ends.

    `crowded` are the builds whose first trial ends out of GPU memory beside others. The disk has `room` for so many open
    environments, and for none while one is being made ahead. `full` has the openings of each slot, by their numbers, that find
    no room where it is; it has rested after `rest` further arrivals, None: never. When all slots are lost, another one `joins`
    so many times. `at_trial` is called while a trial of a case on a version runs.
    """

    history: History
    count: int
    rng: random.Random
    lose: dict[int, int] = field(default_factory=dict)
    kill_after: int | None = None
    crowded: set[str] = field(default_factory=set)
    room: int | None = None
    full: dict[int, set[int]] = field(default_factory=dict)
    rest: int | None = None
    resting: dict[int, int] = field(default_factory=dict)
    openings: list[int] = field(default_factory=list)
    joins: int = 0
    has_waited: bool = False
    retired: set[int] = field(default_factory=set)
    at_trial: Callable[[str, str], None] = lambda _case, _version: None
    pending: dict[int, Job] = field(default_factory=dict)
    cancelled: set[int] = field(default_factory=set)
    queue: list[OpenEnvironment] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    open_environments: set[str] = field(default_factory=set)
    locks: set[str] = field(default_factory=set)
    turns: dict[int, Held] = field(default_factory=dict)
    ran: list[tuple[str, str]] = field(default_factory=list)
    prepared: list[str] = field(default_factory=list)
    was_ahead: list[str] = field(default_factory=list)
    clock: float = 0.0
    is_closed: bool = False
    most_at_once: int = 0

    @property
    def slots(self) -> Sequence[str]:
        """Their names."""
        return [f"s{number}" for number in range(self.count)]

    @property
    def regrows(self) -> bool:
        """Whether a slot comes when all are lost: as often as `joins` says."""
        return bool(self.joins or self.has_waited)

    def prefers(self, slot: int, digest: str) -> bool:  # noqa: ARG002  environments are everywhere
        """No slot is nearer than another."""
        return False

    def retire(self, slot: int) -> None:
        """No job may come any more."""
        self.retired.add(slot)

    def start(self, slot: int, job: Job) -> None:
        """Begin a job."""
        assert slot not in self.retired
        assert slot not in self.pending
        if isinstance(job, RunTrial):
            running = [_trial(other) for other in self.pending.values() if isinstance(other, RunTrial)]
            assert _trial(job) not in running
            self.most_at_once = max(self.most_at_once, len(running) + 1)
        self.pending[slot] = job

    def cancel(self, slot: int) -> None:
        """Call it off."""
        assert slot in self.pending
        self.cancelled.add(slot)

    def prepare(self, job: OpenEnvironment, size: int | None) -> None:  # noqa: ARG002  nothing is measured here
        """Make it ahead."""
        self.queue.append(job)

    def drop(self, digest: str) -> None:
        """Call that off."""
        self.dropped.add(digest)

    def close(self) -> None:
        """Nothing is left."""
        self.is_closed = True

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        """One end, and the news before it."""
        if self.is_closed or timeout == 0:  # nothing has happened yet
            return []
        self.clock += 1
        if rested := tuple(slot for slot, due in self.resting.items() if due <= self.clock):
            self.resting = {slot: due for slot, due in self.resting.items() if slot not in rested}
            return [SlotsRested(rested, self.clock)]
        able = [slot for slot, job in self.pending.items() if self._is_able(slot, job)]
        if not self.pending and not self.queue:
            return [self._another_slot()]
        if not able and not self.queue:  # another host has the turn of every slot
            time.sleep(0.001)
            return []
        if self.queue and (not able or self.rng.random() < 0.5):
            return self._make_ahead(self.queue.pop(0))
        slot = self.rng.choice(sorted(able))
        job = self.pending.pop(slot)
        news: list[Arrival] = []
        if isinstance(job, OpenEnvironment):
            news = [Told(slot, Making(), self.clock), Told(slot, Checking(), self.clock)]
        return [*news, Ended(slot, self._end(slot, job), self.clock)]

    def _another_slot(self) -> Arrival:
        """All are lost and waited for."""
        self.has_waited = True
        if not self.joins:
            return NoSlotCame(MachineFault("no node has joined", advice="start one"), self.clock)
        self.joins -= 1
        self.count += 1
        return SlotsJoined((f"s{self.count - 1}",), self.clock)

    def _is_able(self, slot: int, job: Job) -> bool:
        if isinstance(job, HoldLock) and job.turn is not None:
            return slot in self.cancelled or self._has_turn(slot, job)
        return not (isinstance(job, HoldLock) and str(job.path) in self.locks)

    def _has_turn(self, slot: int, job: HoldLock) -> bool:
        """Try for it: a wait that is stopped at once."""
        over = Stop()
        over.set()
        with contextlib.suppress(Cancelled):
            self.turns[slot] = self.turns.get(slot) or hold(job, lambda _news: None, over)
        return slot in self.turns

    def _make_ahead(self, job: OpenEnvironment) -> list[Arrival]:
        digest = job.key.digest
        error: BaseException | None = None
        if digest in self.dropped:
            self.dropped.discard(digest)
            error = Cancelled()
        elif self._number(job.key.build.version) in self.history.holes:
            error = BuildUnusable("a hole")
        else:
            self.prepared.append(job.key.build.version)
        return [AheadTold(digest, Making(), self.clock), AheadEnded(digest, error, 1.0, self.clock)]

    def _end(self, slot: int, job: Job) -> Result | BaseException:
        if self.kill_after is not None:
            self.kill_after -= 1
            if self.kill_after < 0:
                raise Killed
        if slot in self.cancelled:
            self.cancelled.discard(slot)
            if slot in self.turns:
                self.turns.pop(slot).lease.close()
            return Cancelled()
        match job:
            case OpenEnvironment(key):
                return self._full(slot) or self._open(key.build.version)
            case HoldLock(_, turn) if turn is not None:
                return self.turns.pop(slot)
            case HoldLock(path):
                self.locks.add(str(path))
                return Held(Lease(self.locks, str(path)))
            case RunTrial():
                return self._run(slot, job)

    def _full(self, slot: int) -> SlotFull | None:
        """Whether this opening of the slot finds no room."""
        self.openings.append(slot)
        if self.openings.count(slot) not in self.full.get(slot, ()):
            return None
        if self.rest is not None:
            self.resting[slot] = int(self.clock) + self.rest
        return SlotFull(f"node-{slot} is full", DiskFull(f"no space is left on node-{slot}", advice="make room"))

    def _open(self, version: str) -> Result | BaseException:
        if self._number(version) in self.history.holes:
            return BuildUnusable("a hole")
        assert version not in self.open_environments
        if self.room is not None and (self.queue or len(self.open_environments) >= self.room):
            return DiskFull("no space is left", advice="make room")
        self.open_environments.add(version)
        self.was_ahead += [version] if version in self.prepared else []
        return Opened(
            Environment(
                Path(version), Health(version, None, "3.11", {}, {}), cached=version in self.prepared, seconds=1.0
            ),
            Lease(self.open_environments, version),
        )

    def _run(self, slot: int, job: RunTrial) -> Result | BaseException:
        if self.lose.get(slot, -1) == 0:
            return SlotLost("Xid 79")
        if slot in self.lose:
            self.lose[slot] -= 1
        case, version = _trial(job)
        self.at_trial(case, version)
        observation = _observed(self.history, case, self._number(version))
        if version in self.crowded:
            self.crowded.discard(version)
            chain = (Raised("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2 GiB"),)
            observation = Observation(1, chain=chain, gpu_others=2**36, gpu_total=2**37)
        else:
            self.ran.append((case, version))
        return RanTrial(FinishedTrial(job.folder, "python repro.py", observation))

    def _number(self, version: str) -> int:
        return int(version.partition(".")[2])


def _trial(job: RunTrial) -> tuple[str, str]:
    return job.order.words[-1], job.environment.folder.name


def _observed(history: History, case: str, number: int) -> Observation:
    state = history.states[case][number]
    if state == "pass":
        return Observation(0, duration=1.0)
    if isinstance(state, frozenset):
        return Observation(
            1, duration=1.0, chain=tuple(Raised("RuntimeError", f"broken {one}") for one in sorted(state))
        )
    return Observation(125, output="cannot say", duration=1.0)


@dataclass
class Run:
    """One whole run of the loop over `histories`, each a question over the same builds, in `results`."""

    histories: Sequence[History]
    folder: Path
    results: Results
    executor: ScriptedExecutor
    ahead: int = 0
    controls: tuple[str, ...] = ()
    told: list[events.Event] = field(default_factory=list)
    name: str = "run"

    def sessions(self) -> list[Session]:
        """The questions, loaded."""
        cache = open_cache(self.folder / "cache")
        made = [
            Session(_asked(history, number, self.controls), self.results, _environments(cache))
            for number, history in enumerate(self.histories)
        ]
        for session in made:
            session.load()
        return made

    def go(self) -> list[Session]:
        """Search to the end."""
        sessions = self.sessions()
        ledger = Ledger(0.0)
        runs = [f"{self.name}-{number}" for number in range(len(sessions))]
        for run in runs:
            self.results.start_run(run, spec="s", repro="r", package="toy")
        ahead = Ahead(
            self.executor, sessions, Allowance(), ledger, self.told.append, self.ahead, lambda: self.executor.clock
        )
        diary = Diary(self.results, runs, sessions)
        cache = open_cache(self.folder / "cache")
        Loop(sessions, cache, self.results, self.executor, ahead, ledger, self.told.append, diary=diary).run()
        assert not self.executor.pending
        assert not self.executor.queue
        assert not self.executor.open_environments
        assert not self.executor.locks
        return sessions


def _environments(cache: CacheFolder) -> Environments:
    return Environments(cache, Uv(Path("/uv"), cache.uv, {}), {})


def _asked(history: History, number: int, controls: tuple[str, ...]) -> Asked:
    builds = tuple(
        Build("toy", f"1.{n}", f"toy-1.{n}.whl", f"/wheels/toy-1.{n}.whl", sha256=f"{n:064x}", size=1000)
        for n in range(history.n)
    )
    spec = Spec.model_validate({
        "name": f"spec-{number}", "package": "toy", "channel": "wheelhouse", "script": "repro.py", "flaky": "no",
        "cases": [{"name": c, "args": [c], "role": "control" if c in controls else "test"} for c in history.cases],
    })  # fmt: skip
    return Asked(
        spec=spec,
        stage=Stage("wheelhouse", None, None),
        channel=StillChannel(builds),
        listing=Listing(builds, (), "nowhere"),
        selection=Selection(builds, open_start=False, notes=(), left_out=()),
        interpreters={None: PYTHON},
        device=Device("cpu", "cpu"),
        project=None,
        nightlies=None,
        unread=None,
        twins={},
        read=ReadSpec(spec, Path("/specs/spec.yaml"), Path("/specs")),
        repro=Repro((("repro.py", f"# {number}".encode()),), ("python", "repro.py")),
        wishes=Wishes(policy=Policy(verify=2)),
    )


@dataclass(frozen=True)
class StillChannel:
    """A channel in which nothing is ever replaced, and nothing fetched."""

    builds: tuple[Build, ...]

    def listing(self, wanted: Wanted) -> Listing:  # noqa: ARG002
        """All of them."""
        return Listing(self.builds, (), "nowhere")

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:  # noqa: ARG002
        """By its name."""
        return Installation((build.filename,))

    def current(self, build: Build) -> Build:
        """The same."""
        return build

    def identified(self, build: Build) -> Build:
        """The same."""
        return build

    def source_address(self) -> str:
        """Nowhere."""
        return "nowhere"
