"""The slots of a cluster as nodes come and go, without Ray: the nodes are told, nothing runs on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import ANY, Mock

import pytest

from bisect_tool.errors import DiskFull, MachineFault
from bisect_tool.runs.device import Device
from bisect_tool.runs.executors import (
    Ended,
    NoRoom,
    NoSlotCame,
    Opened,
    PlaceNews,
    SlotFull,
    SlotLost,
    SlotsJoined,
    SlotsRested,
)
from bisect_tool.runs.executors.cluster.nodes import Change, Cluster, Node
from bisect_tool.runs.executors.ray import RayExecutor, RayPlace
from bisect_tool.stopping import Cancelled, Stop
from tests.rig.scripted_nvml import ScriptedNvml
from tests.runs.executors.cluster.test_nodes import node
from tests.runs.test_local_executor import opening

NOTHING = Change((), (), ())
CPU, GPU = Device("cpu", "cpu"), Device("cuda", "H200", "580.1", (9, 0))


class ToldCluster(Cluster):
    """Nothing changes but what the test says."""

    def look(self) -> Change:
        """Nothing new."""
        return Change((), (), ())


@contextmanager
def executor(nodes: Sequence[Node], device: Device, most: int | None, to_join: float = 60.0) -> Iterator[RayExecutor]:
    cluster = ToldCluster("auto", Path("/cache"), lambda: ScriptedNvml(()), list(nodes))
    with closing(RayExecutor(cluster, device, most, to_join=to_join)) as made:
        yield made


def test_slots_are_called_after_their_nodes() -> None:
    with executor([node(1), node(2)], CPU, 3) as made:
        assert made.slots == ("node-1 slot 1", "node-1 slot 2", "node-2 slot 1")
    with executor([node(1, "H200", 2), node(2, "A100", 4)], GPU, None) as made:
        assert made.slots == ("node-1 gpu 0", "node-1 gpu 1")


def test_a_node_that_joins_gets_what_there_may_be_more_of() -> None:
    with executor([node(1, cpus=2)], CPU, 3) as made:
        made._changed(Change((node(2),), (), ("node-2 has joined",)))
        assert made.arrivals(0) == [
            PlaceNews("node-2 has joined", ANY),
            SlotsJoined(("node-2 slot 1",), ANY),
        ]
        assert len(made.slots) == 3


def test_a_slot_whose_node_is_gone_is_lost_with_the_reason() -> None:
    first, second = node(1), node(2)
    with executor([first, second], CPU, 2) as made:
        first.gone = "the power"
        made.start(0, opening(1))
        (ended,) = made.arrivals(60)
        assert isinstance(ended, Ended)
        assert isinstance(ended.result, SlotLost)
        assert str(ended.result) == "node-1 (host-1, 10.0.0.1): the power"


def test_without_any_slot_a_node_is_waited_for_and_then_no_longer() -> None:
    only = node(1)
    with executor([only], CPU, 1, to_join=0.0) as made:
        only.gone = "the power"
        made._changed(Change((), (only,), ()))
        (waiting,) = made.arrivals(0)
        assert isinstance(waiting, PlaceNews)
        assert waiting.text == "no slot is left: waiting for a node to join the cluster, for at most 0.0 s"
        made._changed(Change((), (), ()))
        (gave_up,) = made.arrivals(0)
        assert isinstance(gave_up, NoSlotCame)
        assert isinstance(gave_up.error, MachineFault)
        assert "start nodes" in gave_up.error.advice


def test_a_slot_that_was_retired_is_nothing_to_wait_beside() -> None:
    with executor([node(1)], CPU, 1) as made:
        made.retire(0)
        made._changed(Change((), (), ()))
        (waiting,) = made.arrivals(0)
        assert isinstance(waiting, PlaceNews)


class FullNode(RayExecutor):
    """No node has room."""

    def _open(self, *_words: Any) -> Opened:
        raise SlotFull("node-1: no space", DiskFull("no space", advice="make room"))


def test_a_slot_without_room_is_told_of_when_its_rest_is_over() -> None:
    now, first = [0.0], node(1)
    told = ToldCluster("auto", Path("/cache"), lambda: ScriptedNvml(()), [first, node(2)])
    with closing(FullNode(told, CPU, 2, clock=lambda: now[0])) as made:
        made.start(0, opening(1))
        (ended,) = made.arrivals(60)
        assert isinstance(ended, Ended)
        assert isinstance(ended.result, SlotFull)
        assert first.was_full == 1
        made._changed(NOTHING)
        assert made.arrivals(0) == []
        now[0] = 60.0
        made._changed(NOTHING)
        assert made.arrivals(0) == [SlotsRested((0,), 60.0)]


def test_what_a_node_has_no_room_to_make_ahead_is_made_on_another_one() -> None:
    first, second = node(1), node(2)
    first.is_cramped = True
    with executor([first, second], CPU, 2) as made:
        asked: list[Node] = []

        def once(where: Node, *_words: Any) -> None:
            asked.append(where)
            raise NoRoom

        made._calls = Mock(once=once)
        for error in (Cancelled, NoRoom):
            with pytest.raises(error):
                made.make_ahead(opening(1), 1000, Stop(), lambda _step: None)
        assert asked == [second]


def test_the_reports_say_which_nodes_had_no_room() -> None:
    first, second = node(1), node(2)
    first.was_full, second.trials = 2, 5
    place = RayPlace(Mock(), Cluster("auto", Path("/cache"), lambda: ScriptedNvml(()), [first, second]))
    assert place.notes() == (
        "trials ran on a Ray cluster; by node: node-2 (host-2, 10.0.0.2; Linux, 4 CPUs): 5",
        "no room was left on node-1 (host-1, 10.0.0.1) 2 times: the work went to the other nodes",
    )


def test_the_slot_whose_node_alone_has_the_environment_is_preferred() -> None:
    first, second = node(1), node(2)
    second.ready.add("abc")
    with executor([first, second], CPU, 2) as made:
        assert [made.prefers(slot, "abc") for slot in (0, 1)] == [False, True]
        first.ready.add("abc")
        assert [made.prefers(slot, "abc") for slot in (0, 1)] == [False, False]
