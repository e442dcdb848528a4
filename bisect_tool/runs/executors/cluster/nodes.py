"""What the driver knows of the nodes of a cluster: which there are, what each can do, and who keeps house on it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from bisect_tool.errors import DeviceMissing, MachineFault
from bisect_tool.reports.sentences import plural
from bisect_tool.runs.device import CUDA, Device
from bisect_tool.runs.executors.cluster import connection
from bisect_tool.runs.executors.cluster.connection import Broken, FoundNode
from bisect_tool.runs.executors.cluster.keeper import CALLS, Keeper
from bisect_tool.runs.executors.cluster.parcels import Failed, NodeFacts, own_tool
from bisect_tool.runs.executors.slotted.first import First
from bisect_tool.runs.gpus import Nvml

TO_ADMIT = 120.0  # seconds until a node that does not answer is left alone
ADMISSIONS = 3  # of one node, whose keeper ended each time


@dataclass(slots=True)
class Node:
    """One node with its keeper. `ready` are the digests of the environments that it has, as far as is known.

    `gone` says why it can do nothing more; empty as long as it can. `trials` have run on it. `was_full` so many times;
    `is_cramped`: it has no room for what is made ahead of need.
    """

    name: str
    found: FoundNode
    facts: NodeFacts
    keeper: Any
    folder: Path
    first: First
    ready: set[str]
    gone: str = ""
    trials: int = 0
    was_full: int = 0
    is_cramped: bool = False

    @property
    def label(self) -> str:
        """For people: the name, and where that is."""
        return f"{self.name} ({self.facts.host}, {self.found.address})"

    @property
    def described(self) -> str:
        """With what it has."""
        gpus, cpus = self.facts.gpus, plural(self.found.cpus, "CPU")
        cards = f"; {len(gpus)} × {gpus[0].name}, driver {self.facts.driver}" if gpus else ""
        return f"{self.name} ({self.facts.host}, {self.found.address}; {self.facts.platform}, {cpus}{cards})"

    def room_for(self, device: Device) -> int:
        """How many trials on `device` it can run at once."""
        if device.name != CUDA:
            return self.found.cpus
        fits = self.facts.gpus and self.facts.gpus[0].name == device.kind
        return min(self.found.gpus, len(self.facts.gpus)) if fits else 0


@dataclass(frozen=True, slots=True)
class Change:
    """What is new about the nodes: `joined` can be used, `gone` not any more; `lines` tell it, and of what cannot be used."""

    joined: tuple[Node, ...]
    gone: tuple[Node, ...]
    lines: tuple[str, ...]


@dataclass(slots=True)
class Cluster:
    """The nodes at `address`, in the order in which they were found. `cache` is for a node of our own; `ask` opens a driver."""

    address: str
    cache: Path
    ask: Callable[[], Nvml] = field(repr=False)
    nodes: list[Node] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _admissions: Counter[str] = field(default_factory=Counter)
    _is_open: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> None:
        """Connect, once, and take in every node. Raises `SettingError`, `MachineFault` when no node can be used."""
        if self._is_open:
            return
        connection.connect(self.address, self.cache)
        self._is_open = True
        self.look()
        if not self.alive:
            raise MachineFault(
                "no node of the Ray cluster can be used" + "".join(f"; {one}" for one in self.refused.values()),
                where=self.address,
                advice="every node needs bisect-tool[ray] in the version of the driver, and a folder for its cache "
                "(BISECT_CACHE where the node is started); see docs/ray.md",
            )

    def close(self) -> None:
        """End everything on the nodes."""
        if self._is_open:
            self._is_open = False
            connection.disconnect()

    @property
    def alive(self) -> list[Node]:
        """The nodes that can be used."""
        return [node for node in self.nodes if not node.gone]

    def look(self) -> Change:
        """See which nodes there are now, and take in those that are new. Raises `Broken` when the cluster does not answer."""
        with self._lock:
            found = connection.nodes()
            alive = {one.id: one for one in found if one.is_alive and (one.cpus or one.gpus)}
            gone = [node for node in self.nodes if not node.gone and node.found.id not in alive]
            for node in gone:
                why = next((one.why for one in found if one.id == node.found.id), "")
                node.gone = "Ray does not reach it any more" + (f": {why.splitlines()[0][:200]}" if why else "")
            known = {node.found.id for node in self.nodes if not node.gone} | self.refused.keys()
            new = [one for one in alive.values() if one.id not in known and self._admissions[one.id] < ADMISSIONS]
            joined, lines = self._admit(new)
            lost = [f"{node.label} is lost: {node.gone}" for node in gone]
            return Change(tuple(joined), tuple(gone), (*lost, *lines))

    def _admit(self, new: Sequence[FoundNode]) -> tuple[list[Node], list[str]]:
        """Send a keeper to each node, all at once."""
        if not new:
            return [], []
        for one in new:
            self._names.setdefault(one.id, f"node-{len(self._names) + 1}")
            self._admissions[one.id] += 1
        with ThreadPoolExecutor(len(new)) as threads:
            answers = list(threads.map(self._ask_in, new))
        alive = {one.id for one in connection.nodes() if one.is_alive}
        joined, lines = [], []
        for one, answer in zip(new, answers, strict=True):
            if isinstance(answer, Node):
                self.nodes.append(answer)
                joined.append(answer)
                lines.append(f"{answer.described} has joined")
            elif one.id in alive:
                self.refused[one.id] = f"{self._names[one.id]} ({one.host}, {one.address}) cannot be used: {answer}"
                lines.append(self.refused[one.id])
        return joined, lines

    def _ask_in(self, one: FoundNode) -> Node | str:
        """The node, or why it cannot be used."""
        try:
            keeper = connection.start_actor(Keeper, [self.ask], one.id, CALLS)
            facts = connection.get(keeper.open.remote(own_tool()), TO_ADMIT)
            if isinstance(facts, Failed):
                return f"{facts.what}; {facts.advice}"
            folder = connection.get(keeper.folder.remote(), TO_ADMIT)
        except Broken as error:
            return f"bisect-tool[ray] cannot be started there: {error}"
        except MachineFault as error:
            return error.what
        first = First(has_one=facts.has_environments)
        return Node(self._names[one.id], one, facts, keeper, folder, first, set(facts.ready))

    def give_up(self, node: Node, why: str) -> None:
        """A node whose keeper does not answer: it is taken in again when it can be."""
        if not node.gone:
            node.gone = why
            connection.kill(node.keeper)

    def find_device(self, wanted: Sequence[str], _environ: Mapping[str, str]) -> Device:
        """The first device of `wanted` that a node has; of GPUs the kind of which there are most.

        Raises `DeviceMissing`, and what `open` raises.
        """
        self.open()
        for name in wanted:
            if name == "cpu" and any(node.found.cpus for node in self.alive):
                return Device("cpu", "cpu")
            if name == CUDA and (device := self._gpus()) is not None:
                return device
        seen = [f"{node.label}: {node.facts.no_gpu or plural(node.found.gpus, 'GPU')}" for node in self.alive]
        raise DeviceMissing(
            f"the spec needs {' or '.join(wanted)}, and no node of the cluster has that: {'; '.join(seen)}",
            advice="start a node with `ray start --num-gpus N` on a machine with NVIDIA GPUs, or with CPUs for the device cpu",
        )

    def _gpus(self) -> Device | None:
        """The most frequent kind of GPU, with the oldest driver among its nodes, so that every build runs on all of them."""
        able = [node for node in self.alive if node.facts.gpus and node.found.gpus]
        counts = Counter[str]()
        for node in able:
            counts[node.facts.gpus[0].name] += node.found.gpus
        if not counts:
            return None
        kind = max(counts, key=lambda name: (counts[name], name))
        alike = [node for node in able if node.facts.gpus[0].name == kind]
        driver = min((node.facts.driver or "" for node in alike), key=Version)
        return Device(CUDA, kind, driver, alike[0].facts.gpus[0].capability)


def shared_out(room: Sequence[int], most: int | None) -> list[int]:
    """How many slots each place gets that has `room` for so many: `most` in all, each place in turn; None: all of it."""
    if most is None:
        return list(room)
    given = [0] * len(room)
    while sum(given) < most and any(has < can for has, can in zip(given, room, strict=True)):
        least = min(has for has, can in zip(given, room, strict=True) if has < can)
        place = next(n for n, has in enumerate(given) if has == least and has < room[n])
        given[place] += 1
    return given
