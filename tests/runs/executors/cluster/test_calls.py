"""What it means for a slot when a job ends badly on its node; no node is asked."""

from __future__ import annotations

import pytest

from bisect_tool.errors import BisectError, CacheNotWritable, DiskFull, RequirementsUnmet
from bisect_tool.runs.device import Device
from bisect_tool.runs.executors import SlotFull, SlotLost
from bisect_tool.runs.executors.cluster.calls import Calls
from bisect_tool.runs.executors.cluster.parcels import failed
from tests.runs.executors.cluster.test_nodes import cluster, node


def raised(error: BaseException, *, has_others: bool) -> Exception:
    calls = Calls(cluster(node(1)), Device("cpu", "cpu"), 0.0, lambda _node: has_others)
    with pytest.raises((BisectError, SlotLost)) as seen:
        calls._raised(node(1), failed(error, "host-1"))
    return seen.value


@pytest.mark.parametrize("has_others", [False, True])
@pytest.mark.parametrize("error", [DiskFull("no space", advice="make room"), OSError(28, "No space left on device")])
def test_a_node_without_room_rests_whether_there_are_others_or_not(error: Exception, *, has_others: bool) -> None:
    full = raised(error, has_others=has_others)
    assert isinstance(full, SlotFull)
    assert str(full).startswith("node-1 (host-1, 10.0.0.1): no space")
    assert isinstance(full.error, DiskFull)
    assert full.error.where == "the node host-1"


@pytest.mark.parametrize(("has_others", "kind"), [(True, SlotLost), (False, CacheNotWritable)])
def test_what_is_wrong_with_a_node_for_good_loses_its_slot_as_long_as_there_are_others(
    kind: type[Exception], *, has_others: bool
) -> None:
    assert type(raised(CacheNotWritable("read-only", advice="x"), has_others=has_others)) is kind


def test_what_is_true_everywhere_is_no_fault_of_a_node() -> None:
    assert isinstance(raised(RequirementsUnmet("none", advice="x"), has_others=True), RequirementsUnmet)
