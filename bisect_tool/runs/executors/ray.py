"""The slots of a Ray cluster: environments and trials are on its nodes; what is decided, judged and stored is here.

Each slot belongs to a node. A job of the slot is a call on that node, which a thread here waits for; its environment is held
open by the keeper of the node. What a trial leaves comes back by content and is written here before the loop hears of its end.
`docs/ray.md` says what travels and what happens when something dies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, assert_never

from bisect_tool.builds.build import Installation
from bisect_tool.environments.cache_folder import cannot_write
from bisect_tool.environments.environment import EnvironmentKey, Environments, Step
from bisect_tool.errors import DeviceMissing, MachineFault, SettingError
from bisect_tool.quantities import format_duration
from bisect_tool.reports import events
from bisect_tool.reports.sentences import plural
from bisect_tool.runs.device import CUDA, Device
from bisect_tool.runs.executors import (
    HoldLock,
    Job,
    News,
    NoRoom,
    NoSlotCame,
    Opened,
    OpenEnvironment,
    PlaceNews,
    RanTrial,
    Result,
    RunTrial,
    SlotFull,
    SlotLost,
    SlotsJoined,
    SlotsRested,
)
from bisect_tool.runs.executors.cluster import connection, work
from bisect_tool.runs.executors.cluster.calls import Calls, Gone, HeldThere
from bisect_tool.runs.executors.cluster.connection import Broken
from bisect_tool.runs.executors.cluster.nodes import Change, Cluster, Node, shared_out
from bisect_tool.runs.executors.cluster.parcels import OpenedThere, OpenOrder, RanThere, Unknown, travelling, unpack
from bisect_tool.runs.executors.cluster.rests import Rests
from bisect_tool.runs.executors.slotted.holding import hold
from bisect_tool.runs.executors.slotted.threads import SlotThreads
from bisect_tool.runs.nvml import open_nvml
from bisect_tool.runs.slots import ONE_AT_A_TIME, compares_numbers
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.trials.trial import FinishedTrial, lay_out

if TYPE_CHECKING:
    from bisect_tool.runs.executors.choosing import Opening
    from bisect_tool.runs.session import Session
    from bisect_tool.runs.surveying import Means

BETWEEN_LOOKS = 1.0  # seconds between two looks at the nodes
TO_JOIN = 600.0  # seconds that a run waits without any node


class RayExecutor(SlotThreads):
    """The slots of `cluster` for trials on `device`, at most `most` at once and `each` on a node (None: all).

    `wait` are the seconds for a GPU that others use, `to_join` those that a run waits without any node.
    """

    def __init__(
        self,
        cluster: Cluster,
        device: Device,
        most: int | None,
        *,
        each: int | None = None,
        wait: float = 0.0,
        to_join: float = TO_JOIN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock=clock)
        self._cluster = cluster
        self._device = device
        self._most = most
        self._each = each
        self._to_join = to_join
        self._places: list[Node] = []
        self._retired: set[int] = set()
        self._rests = Rests()
        self._calls = Calls(cluster, device, wait, self._has_others, clock)
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
            case OpenEnvironment() | RunTrial():
                return self._do_there(slot, job, stop, tell)
            case _:
                assert_never(job)

    def make_ahead(self, job: OpenEnvironment, size: int | None, stop: Stop, tell: Callable[[Step], None]) -> None:
        """On the node with slots and room that has the fewest environments; none has room: raises `NoRoom`."""
        if not self._able():
            raise Cancelled
        able = [node for node in self._able() if not node.is_cramped]
        if not able:
            raise NoRoom
        node = min(able, key=lambda one: len(one.ready))
        order = OpenOrder(job.key, self._installation(job), job.device, job.as_of)

        def told(news: News) -> None:
            tell(news)  # type: ignore[arg-type]  # what is made ahead tells nothing but steps

        try:
            self._calls.once(node, work.make_ahead, [order, size], stop, told)
        except (NoRoom, SlotFull) as full:
            node.is_cramped = True
            raise Cancelled from full  # the next one is made on another node
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

    def _do_there(self, slot: int, job: OpenEnvironment | RunTrial, stop: Stop, tell: Callable[[News], None]) -> Result:
        """On the node of the slot, which rests when there is no room."""
        node = self._place(slot)
        result: Result
        try:
            match job:
                case OpenEnvironment():
                    result = self._open(node, job, stop, tell)
                case RunTrial():
                    result = self._run(node, job, stop, tell)
        except SlotFull:
            node.was_full += 1
            self._rests.begin(slot, self._clock())
            raise
        if isinstance(job, RunTrial):
            self._rests.went_well(slot)  # an environment that was here is opened without room
        return result

    def _open(self, node: Node, job: OpenEnvironment, stop: Stop, tell: Callable[[News], None]) -> Opened:
        known = job.key.digest in node.ready
        order = OpenOrder(job.key, None if known else self._installation(job), job.device, job.as_of)
        with node.first.after(stop, tell):
            name, outcome = self._calls.attempts(node, work.open_environment, [order], stop, tell, may_tell=True)
            if isinstance(outcome, Unknown):
                order = replace(order, installation=self._installation(job))
                name, outcome = self._calls.attempts(node, work.open_environment, [order], stop, tell, may_tell=True)
        if not isinstance(outcome, OpenedThere):
            raise TypeError(outcome)
        node.ready.add(job.key.digest)
        return Opened(replace(outcome.environment, machine=node.facts.boot), HeldThere(node, name))

    def _run(self, node: Node, job: RunTrial, stop: Stop, tell: Callable[[News], None]) -> RanTrial:
        order, files = replace(job.order, files=()), self._placed(job.order.files)
        words = [files, order, job.environment.programs, job.folder.name]
        has_gpu = self._device.name == CUDA
        _, outcome = self._calls.attempts(node, work.run_trial_there, words, stop, tell, may_tell=has_gpu)
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

    def _able(self) -> list[Node]:
        """The node of each slot that can be used."""
        return [node for slot, node in enumerate(self._places) if not node.gone and slot not in self._retired]

    def _has_others(self, node: Node) -> bool:
        """Whether nodes other than this one have slots."""
        return any(one is not node for one in self._able())

    def _installation(self, job: OpenEnvironment) -> Installation:
        with self._channels:
            return travelling(job.install())

    def _placed(self, files: tuple[tuple[str, bytes], ...]) -> Any:
        """The files of a repro, where every node can get them; they travel to each once."""
        if files not in self._files:
            self._files[files] = connection.put(files)
        return self._files[files]

    # ---- the nodes

    def _add(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        """Slots on these nodes, as many as there may be more."""
        left = None if self._most is None else self._most - len(self._able())
        room = [node.room_for(self._device) for node in nodes]
        if self._each is not None:
            room = [min(self._each, one) for one in room]
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
        if rested := self._rests.over(self._clock()):
            self._arrivals.put(SlotsRested(rested, self._clock()))
        self._strand()

    def _strand(self) -> None:
        """Notice that no slot is left, and how long that has been so."""
        now = self._clock()
        if self._able():
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


def _no_node_came(seconds: float) -> MachineFault:
    return MachineFault(
        f"no node of the Ray cluster is left, and none has joined for {format_duration(seconds)}",
        advice="start nodes (`ray start --address=…`), then run the same command again: it goes on from where it stopped",
    )


@dataclass(frozen=True, slots=True)
class ClusterEnvironments(Environments):
    """Those of this machine, which says of each whether a node has it."""

    cluster: Cluster = field(kw_only=True)

    def elsewhere(self) -> frozenset[str]:
        """Those on the nodes, as far as is known."""
        return frozenset().union(*(frozenset(node.ready) for node in self.cluster.alive))

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
        """Slots for these sessions, all on one kind of device.

        Raises `DeviceMissing` when no node has room for a trial, `SettingError` for sessions on different devices.
        """
        self.cluster.open()
        settings, tell = self.opening.settings, self.opening.tell
        if len(devices := sorted({session.asked.device.name for session in sessions})) > 1:
            raise SettingError(
                f"the specs run on different devices: {' and '.join(devices)}",
                where="--executor ray",
                advice="answer those of each device in a run of their own, or choose one with --device",
            )
        device, most = sessions[0].asked.device, settings.jobs
        if compares_numbers(sessions):
            if most is None or most > 1:
                tell(events.Notice(ONE_AT_A_TIME))
            most = 1
        for node in self.cluster.alive:
            tell(events.Notice(node.described))
        each = 1 if most is None and device.name != CUDA else None  # as on one machine
        executor = RayExecutor(self.cluster, device, most, each=each, wait=settings.wait_for_gpu)
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
        full = [f"{node.label} {plural(node.was_full, 'time')}" for node in self.cluster.nodes if node.was_full]
        where = (f"trials ran on a Ray cluster; by node: {'; '.join(ran)}",) if ran else ()
        rested = (f"no room was left on {', '.join(full)}: the work went to the other nodes",) if full else ()
        return (*where, *rested)

    def close(self) -> None:
        """End everything on the nodes."""
        self.cluster.close()


def open_place(opening: Opening) -> RayPlace:
    """The cluster that the settings name; it is connected to when it is needed. Raises `SettingError` without Ray."""
    connection.check_installed()
    settings = opening.settings
    return RayPlace(opening, Cluster(settings.ray_address, settings.cache, open_nvml))
