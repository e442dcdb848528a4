"""Calls on nodes: how a job is begun, waited for and called off, and what it means when it comes to no end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bisect_tool.environments.environment import Trouble
from bisect_tool.errors import (
    BisectError,
    CacheBroken,
    CacheNotWritable,
    CacheTooNew,
    DiskFull,
    MachineFault,
    PythonMissing,
    UvMissing,
)
from bisect_tool.runs.device import CUDA, Device
from bisect_tool.runs.executors import News, SlotFull, SlotLost
from bisect_tool.runs.executors.cluster import connection
from bisect_tool.runs.executors.cluster.connection import Broken
from bisect_tool.runs.executors.cluster.nodes import Cluster, Node
from bisect_tool.runs.executors.cluster.parcels import Failed, Lost, Outcome
from bisect_tool.runs.executors.cluster.work import Desk
from bisect_tool.stopping import Cancelled, Stop

ATTEMPTS = 3  # of a job whose process on a node that lives was killed
LOOK = 0.2  # seconds between two looks whether a job was called off
TO_END = 60.0  # seconds for a job to end that was called off, until its process is killed
# What one node can have and another one not: its slots are lost, and the others go on.
OF_A_NODE = (CacheBroken, CacheNotWritable, CacheTooNew, MachineFault, PythonMissing, UvMissing)

_KILLED = (
    "look at the memory of that node (`free -h`, `dmesg`): Ray kills processes when it runs short; then run the same command "
    "again: it goes on from where it stopped"
)


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
        release(self.node, self.name)


def release(node: Node, name: str) -> None:
    """Have the keeper let go of the environment that it holds under this name, if it does; nobody waits for it."""
    if not node.gone:
        try:
            node.keeper.release.remote(name)
        except Exception:  # noqa: BLE001  the connection may be closed, and with it everything is let go
            return


@dataclass(slots=True)
class Calls:
    """Begins jobs on the nodes of `cluster`, with a GPU where `device` is one, and waits for their ends.

    `has_others` says whether nodes other than one have slots; `wait` are the seconds for a GPU that others use.
    """

    cluster: Cluster
    device: Device
    wait: float
    has_others: Callable[[Node], bool]
    clock: Callable[[], float] = time.monotonic
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def attempts(
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
            has_gpu = self.device.name == CUDA
            call = self._begin(node, function, words, has_gpu=has_gpu, cpus=0.0 if has_gpu else 1.0, may_tell=may_tell)
            try:
                return call.name, self._raised(node, self._ended(call, stop, tell))
            except Gone as gone:
                if attempt == ATTEMPTS:
                    text = f"a process was killed {ATTEMPTS} times: {gone}"
                    raise self._of_the_node(node, MachineFault(text, where=node.label, advice=_KILLED)) from gone
                tell(Trouble(f"{node.label}: {gone}", attempt, ATTEMPTS))
        raise AssertionError

    def once(
        self,
        node: Node,
        function: Callable[..., Outcome],
        words: Sequence[object],
        stop: Stop,
        tell: Callable[[News], None],
    ) -> Outcome:
        """Do a job that takes no CPU and no GPU of Ray's account. Raises `Gone` when its process was killed, too."""
        call = self._begin(node, function, words, has_gpu=False, cpus=0.0)
        return self._raised(node, self._ended(call, stop, tell))

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
        desk = Desk(node.keeper, node.folder, name, self.cluster.ask, self.wait, has_gpu)
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
            release(call.node, call.name)
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
                called_off = self.clock()
                self._call_off(call)
            if called_off and self.clock() - called_off > TO_END:
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
        """What may be wrong with one node loses its slot as long as there are others; the last one stops the run.

        Where there is no room now there may be some later, and whoever has all slots in view decides.
        """
        if isinstance(error, DiskFull):
            return SlotFull(f"{node.label}: {error.what}", error)
        if isinstance(error, OF_A_NODE) and self.has_others(node):
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
        self.cluster.give_up(node, f"it does not answer any more: {why}")
        return SlotLost(f"{node.label}: {node.gone}")
