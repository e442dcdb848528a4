"""The slots of a Ray cluster: environments and trials are on its nodes; what is decided, judged and stored is here.

Each slot belongs to a node. A job of the slot is a call on that node, which a thread here waits for; its environment is held
open by the keeper of the node. What a trial leaves comes back by content and is written here before the loop hears of its end.
`docs/ray.md` says what travels and what happens when something dies.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, assert_never

from bisect_tool.builds.build import Installation
from bisect_tool.environments.cache_folder import cannot_write
from bisect_tool.environments.environment import EnvironmentKey, Environments, Step, Trouble
from bisect_tool.errors import (
    BisectError,
    CacheBroken,
    CacheNotWritable,
    CacheTooNew,
    DeviceMissing,
    DiskFull,
    MachineFault,
    PythonMissing,
    UvMissing,
)
from bisect_tool.quantities import format_duration
from bisect_tool.reports import events
from bisect_tool.runs.device import CUDA, Device
from bisect_tool.runs.executors import (
    HoldLock,
    Job,
    News,
    NoSlotCame,
    Opened,
    OpenEnvironment,
    PlaceNews,
    RanTrial,
    Result,
    RunTrial,
    SlotLost,
    SlotsJoined,
)
from bisect_tool.runs.executors.cluster import connection, work
from bisect_tool.runs.executors.cluster.connection import Broken
from bisect_tool.runs.executors.cluster.nodes import Change, Cluster, Node, shared_out
from bisect_tool.runs.executors.cluster.parcels import (
    Failed,
    Lost,
    OpenedThere,
    OpenOrder,
    Outcome,
    RanThere,
    Unknown,
    travelling,
    unpack,
)
from bisect_tool.runs.executors.holding import hold
from bisect_tool.runs.executors.slotted.threads import SlotThreads
from bisect_tool.runs.nvml import open_nvml
from bisect_tool.runs.slots import ONE_AT_A_TIME, compares_numbers
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.trials.trial import FinishedTrial, lay_out

if TYPE_CHECKING:
    from bisect_tool.runs.executors.choosing import Opening
    from bisect_tool.runs.session import Session
    from bisect_tool.runs.surveying import Means

ATTEMPTS = 3  # of a job whose process on a node that lives was killed
LOOK = 0.2  # seconds between two looks whether a job was called off
TO_END = 60.0  # seconds for a job to end that was called off, until its process is killed
BETWEEN_LOOKS = 1.0  # seconds between two looks at the nodes
TO_JOIN = 600.0  # seconds that a run waits without any node
# What one node can have and another one not: its slots are lost, and the others go on.
OF_A_NODE = (CacheBroken, CacheNotWritable, CacheTooNew, DiskFull, MachineFault, PythonMissing, UvMissing)


class Gone(Exception):
    """The process of a job was killed; the text says by what. Its node may live."""


@dataclass(frozen=True, slots=True)
class Call:
    """A job on its way: where it is done, under what name, and whether there may be news of it."""

    node: Node
    name: str
    result: Any = field(repr=False)
    may_tell: bool


@dataclass(frozen=True, slots=True)
class HeldThere:
    """An environment that the keeper of a node holds."""

    node: Node
    name: str

    def close(self) -> None:
        """Let go of it; where the node is gone, so is what held it."""
        _release(self.node, self.name)


def _release(node: Node, name: str) -> None:
    if not node.gone:
        try:
            node.keeper.release.remote(name)
        except Exception:  # noqa: BLE001  the connection may be closed, and with it everything is let go
            return


class RayExecutor(SlotThreads):
    """The slots of `cluster` for trials on `device`, at most `most` at once (None: all).

    `wait` are the seconds for a GPU that others use, `to_join` those that a run waits without any node.
    """

    def __init__(
        self,
        cluster: Cluster,
        device: Device,
        most: int | None,
        *,
        wait: float = 0.0,
        to_join: float = TO_JOIN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock=clock)
        self._cluster = cluster
        self._device = device
        self._most = most
        self._wait = wait
        self._to_join = to_join
        self._places: list[Node] = []
        self._retired: set[int] = set()
        self._numbers = itertools.count(1)
        self._channels = threading.Lock()
        self._files: dict[tuple[tuple[str, bytes], ...], Any] = {}
        self._is_silent = False
        self._over = threading.Event()
        self._stranded: float | None = None
        self._add(cluster.alive)
        self._watcher = threading.Thread(target=self._watch, name="nodes", daemon=True)
        self._watcher.start()

    @property
    def regrows(self) -> bool:
        """Nodes may join at any time."""
        return True

    def prefers(self, slot: int, digest: str) -> bool:
        """Whether the node of the slot has an environment that others have not."""
        has = [node for node in self._cluster.alive if digest in node.ready]
        return self._places[slot] in has and len(has) < len(self._cluster.alive)

    def retire(self, slot: int) -> None:
        """A slot that was lost."""
        self._retired.add(slot)

    def close(self) -> None:
        """Call everything off, and wait until nothing of it is left."""
        self._over.set()
        super().close()
        self._watcher.join()

    def do(self, slot: int, job: Job, stop: Stop, tell: Callable[[News], None]) -> Result:
        """Do a job of a slot."""
        match job:
            case HoldLock():
                return hold(job, tell, stop)
            case OpenEnvironment():
                return self._open(self._place(slot), job, stop, tell)
            case RunTrial():
                return self._run(self._place(slot), job, stop, tell)
            case _:
                assert_never(job)

    def make_ahead(self, job: OpenEnvironment, size: int | None, stop: Stop, tell: Callable[[Step], None]) -> None:
        """On the node that has the fewest environments."""
        alive = self._cluster.alive
        if not alive:
            raise Cancelled
        node = min(alive, key=lambda one: len(one.ready))
        order = OpenOrder(job.key, self._installation(job), job.device, job.as_of)

        def told(news: News) -> None:
            tell(news)  # type: ignore[arg-type]  # what is made ahead tells nothing but steps

        call = self._begin(node, work.make_ahead, [order, size], has_gpu=False, cpus=0.0)
        try:
            self._raised(node, self._ended(call, stop, told))
        except (Gone, SlotLost) as gone:
            raise Cancelled from gone  # it is made when it is needed
        node.ready.add(job.key.digest)

    # ---- the jobs of a slot

    def _place(self, slot: int) -> Node:
        """The node of a slot. Raises `SlotLost`."""
        node = self._places[slot]
        if node.gone:
            raise SlotLost(f"{node.label}: {node.gone}")
        return node

    def _open(self, node: Node, job: OpenEnvironment, stop: Stop, tell: Callable[[News], None]) -> Opened:
        known = job.key.digest in node.ready
        order = OpenOrder(job.key, None if known else self._installation(job), job.device, job.as_of)
        with node.first.after(stop, tell):
            name, outcome = self._attempts(node, work.open_environment, [order], stop, tell, may_tell=True)
            if isinstance(outcome, Unknown):
                order = replace(order, installation=self._installation(job))
                name, outcome = self._attempts(node, work.open_environment, [order], stop, tell, may_tell=True)
        if not isinstance(outcome, OpenedThere):
            raise TypeError(outcome)
        node.ready.add(job.key.digest)
        return Opened(replace(outcome.environment, machine=node.facts.boot), HeldThere(node, name))

    def _run(self, node: Node, job: RunTrial, stop: Stop, tell: Callable[[News], None]) -> RanTrial:
        order, files = replace(job.order, files=()), self._placed(job.order.files)
        words = [files, order, job.environment.programs, job.folder.name]
        has_gpu = self._device.name == CUDA
        _, outcome = self._attempts(node, work.run_trial_there, words, stop, tell, may_tell=has_gpu)
        if not isinstance(outcome, RanThere):
            raise TypeError(outcome)
        try:
            lay_out(job.order.files, job.folder / "repro")
            unpack(outcome.files, job.folder)
        except OSError as error:
            raise cannot_write(error, job.folder) from error
        node.trials += 1
        observation = replace(outcome.observation, machine=node.label)
        return RanTrial(FinishedTrial(job.folder, outcome.command, observation))

    def _installation(self, job: OpenEnvironment) -> Installation:
        with self._channels:
            return travelling(job.install())

    def _placed(self, files: tuple[tuple[str, bytes], ...]) -> Any:
        """The files of a repro, where every node can get them; they travel to each once."""
        if files not in self._files:
            self._files[files] = connection.put(files)
        return self._files[files]

    def _attempts(
        self,
        node: Node,
        function: Callable[..., Outcome],
        words: Sequence[object],
        stop: Stop,
        tell: Callable[[News], None],
        *,
        may_tell: bool,
    ) -> tuple[str, Outcome]:
        """Do a job, again where its process was killed on a node that lives; gives its name and how it ended."""
        for attempt in itertools.count(1):
            has_gpu = self._device.name == CUDA
            call = self._begin(node, function, words, has_gpu=has_gpu, cpus=0.0 if has_gpu else 1.0, may_tell=may_tell)
            try:
                return call.name, self._raised(node, self._ended(call, stop, tell))
            except Gone as gone:
                if attempt == ATTEMPTS:
                    raise self._of_the_node(
                        node,
                        MachineFault(
                            f"a process was killed {ATTEMPTS} times: {gone}", where=node.label, advice=_KILLED
                        ),
                    ) from gone
                tell(Trouble(f"{node.label}: {gone}", attempt, ATTEMPTS))
        raise AssertionError

    def _begin(
        self,
        node: Node,
        function: Callable[..., Outcome],
        words: Sequence[object],
        *,
        has_gpu: bool,
        cpus: float,
        may_tell: bool = True,
    ) -> Call:
        name = f"job-{next(self._numbers)}"
        desk = work.Desk(node.keeper, node.folder, name, self._cluster.ask, self._wait, has_gpu)
        try:
            result = connection.submit(function, [desk, *words], node.found.id, cpus, float(has_gpu))
        except (Broken, MachineFault) as error:
            raise self._lost(node, str(error)) from error
        return Call(node, name, result, may_tell)

    def _ended(self, call: Call, stop: Stop, tell: Callable[[News], None]) -> Outcome:
        """Wait for the end of a job. Raises `Cancelled`, `SlotLost`, `Gone`; then the keeper holds nothing of it."""
        try:
            return self._awaited(call, stop, tell)
        except BaseException as error:
            _release(call.node, call.name)
            if not isinstance(error, Broken):
                raise
            raise (Cancelled() if stop.is_set else self._gone(call.node, error)) from error

    def _awaited(self, call: Call, stop: Stop, tell: Callable[[News], None]) -> Outcome:
        keeper, called_off = call.node.keeper, 0.0
        news = keeper.news.remote(call.name) if call.may_tell else None
        while True:
            ended = connection.wait([call.result, *([] if news is None else [news])], LOOK)
            if news is not None and news in ended:
                self._pass_on(call, connection.get(news), tell)
                news = keeper.news.remote(call.name)
            if call.result in ended:
                outcome: Outcome = connection.get(call.result)
                self._pass_on(call, connection.get(keeper.end.remote(call.name)), tell)
                return outcome
            if stop.is_set and not called_off:
                called_off = self._clock()
                self._call_off(call)
            if called_off and self._clock() - called_off > TO_END:
                connection.cancel(call.result, force=True)
            if call.node.gone:
                raise Broken(call.node.gone)

    def _call_off(self, call: Call) -> None:
        """Ask for its end. Raises `Cancelled` at once when it had not begun: then it never will."""
        if not connection.get(call.node.keeper.call_off.remote(call.name)):
            connection.cancel(call.result, force=False)
            raise Cancelled

    def _pass_on(self, call: Call, news: Sequence[News | Lost], tell: Callable[[News], None]) -> None:
        for one in news:
            if isinstance(one, Lost):
                raise SlotLost(f"{call.node.label}: {one.text}")
            tell(one)

    def _raised(self, node: Node, outcome: Outcome) -> Outcome:
        """The outcome, unless it is something to raise."""
        if not isinstance(outcome, Failed):
            return outcome
        error = outcome.error()
        raise self._of_the_node(node, error) if isinstance(error, BisectError) else error

    def _of_the_node(self, node: Node, error: BisectError) -> Exception:
        """What may be wrong with one node loses its slot as long as there are others; the last one stops the run."""
        others = {one.found.id for n, one in enumerate(self._places) if not one.gone and n not in self._retired}
        if isinstance(error, OF_A_NODE) and others - {node.found.id}:
            return SlotLost(f"{node.label}: {error.what}")
        return error

    def _gone(self, node: Node, error: Broken) -> Exception:
        """What it means that a call came to no end: where the keeper answers, only the process of the job was killed."""
        try:
            connection.get(node.keeper.folder.remote(), timeout=TO_END)
        except (Broken, MachineFault):
            return self._lost(node, str(error))
        return Gone(str(error))

    def _lost(self, node: Node, why: str) -> SlotLost:
        self._cluster.give_up(node, f"it does not answer any more: {why}")
        return SlotLost(f"{node.label}: {node.gone}")

    # ---- the nodes

    def _add(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        """Slots on these nodes, as many as there may be more."""
        used = sum(not node.gone and slot not in self._retired for slot, node in enumerate(self._places))
        left = None if self._most is None else self._most - used
        room = [node.room_for(self._device) for node in nodes]
        kind = "gpu" if self._device.name == CUDA else "slot"
        names = []
        for node, count in zip(nodes, shared_out(room, left), strict=True):
            for number in range(count):
                name = f"{node.name} {kind} {number if kind == 'gpu' else number + 1}"
                self._places.append(node)
                self.add_slot(name)
                names.append(name)
        return tuple(names)

    def _watch(self) -> None:
        while not self._over.wait(BETWEEN_LOOKS):
            try:
                change = self._cluster.look()
            except Broken as error:
                # Ray ends this process itself when it cannot be reached for long; what was learned is stored.
                if not self._is_silent:
                    self._tell(f"the Ray cluster does not answer: {error}")
                self._is_silent = True
                continue
            self._is_silent = False
            self._changed(change)

    def _changed(self, change: Change) -> None:
        for line in change.lines:
            self._tell(line)
        if names := self._add(change.joined):
            self._arrivals.put(SlotsJoined(names, self._clock()))
        self._strand()

    def _strand(self) -> None:
        """Notice that no slot is left, and how long that has been so."""
        now = self._clock()
        if any(not node.gone and slot not in self._retired for slot, node in enumerate(self._places)):
            self._stranded = None
        elif self._stranded is None:
            self._stranded = now
            limit = format_duration(self._to_join)
            self._tell(f"no slot is left: waiting for a node to join the cluster, for at most {limit}")
        elif now - self._stranded > self._to_join:
            self._stranded = now
            self._arrivals.put(NoSlotCame(_no_node_came(self._to_join), now))

    def _tell(self, text: str) -> None:
        self._arrivals.put(PlaceNews(text, self._clock()))


_KILLED = (
    "look at the memory of that node (`free -h`, `dmesg`): Ray kills processes when it runs short; then run the same command "
    "again: it goes on from where it stopped"
)


def _no_node_came(seconds: float) -> MachineFault:
    return MachineFault(
        f"no node of the Ray cluster is left, and none has joined for {format_duration(seconds)}",
        advice="start nodes (`ray start --address=…`), then run the same command again: it goes on from where it stopped",
    )


@dataclass(frozen=True, slots=True)
class ClusterEnvironments(Environments):
    """Those of this machine, which says of each whether a node has it."""

    cluster: Cluster = field(kw_only=True)

    def is_ready(self, key: EnvironmentKey) -> bool:
        """Whether it is on a node, as far as is known."""
        return any(key.digest in node.ready for node in self.cluster.alive)


@dataclass(slots=True)
class RayPlace:
    """A Ray cluster."""

    opening: Opening
    cluster: Cluster

    def means(self, means: Means) -> Means:
        """The devices are those of the nodes."""
        return replace(means, find_device=self.cluster.find_device)

    def environments(self, own: Environments) -> Environments:
        """They are on the nodes."""
        return ClusterEnvironments(
            own.cache, own.uv, own.environ, own.max_cache, own.sleep, own.bandwidth, own.stop, cluster=self.cluster
        )

    def open(self, sessions: Sequence[Session]) -> RayExecutor:
        """Slots for these sessions. Raises `DeviceMissing` when no node has room for a trial."""
        self.cluster.open()
        settings, tell = self.opening.settings, self.opening.tell
        device, most = sessions[0].asked.device, settings.jobs
        if compares_numbers(sessions):
            if most is None or most > 1:
                tell(events.Notice(ONE_AT_A_TIME))
            most = 1
        for node in self.cluster.alive:
            tell(events.Notice(node.described))
        if most is None and device.name != CUDA:
            most = len([node for node in self.cluster.alive if node.found.cpus])  # as on one machine, one each
        executor = RayExecutor(self.cluster, device, most, wait=settings.wait_for_gpu)
        if not executor.slots:
            executor.close()
            raise DeviceMissing(
                f"no node of the Ray cluster has room for a trial on {device.name}",
                where=settings.ray_address,
                advice="start nodes with --num-cpus or --num-gpus of at least 1",
            )
        return executor

    @property
    def beside(self) -> None:
        """Thin builds are not made on nodes."""
        return

    def notes(self) -> tuple[str, ...]:
        """Where the trials ran."""
        ran = [f"{node.described}: {node.trials}" for node in self.cluster.nodes if node.trials]
        return (f"trials ran on a Ray cluster; by node: {'; '.join(ran)}",) if ran else ()

    def close(self) -> None:
        """End everything on the nodes."""
        self.cluster.close()


def open_place(opening: Opening) -> RayPlace:
    """The cluster that the settings name; it is connected to when it is needed. Raises `SettingError` without Ray."""
    connection.check_installed()
    settings = opening.settings
    return RayPlace(opening, Cluster(settings.ray_address, settings.cache, open_nvml))
