from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_tool.environments.interpreter import Interpreter, find_interpreter
from bisect_tool.environments.uv import find_uv
from bisect_tool.errors import DeviceMissing, PythonMissing
from bisect_tool.runs.executors.cluster.connection import FoundNode
from bisect_tool.runs.executors.cluster.keeper import Keeper
from bisect_tool.runs.executors.cluster.node import Signs, gpus_here, home, interpreter_like
from bisect_tool.runs.executors.cluster.nodes import Cluster, Node, shared_out
from bisect_tool.runs.executors.cluster.parcels import Failed, NodeFacts, Tool, own_tool
from bisect_tool.runs.executors.slotted.first import First
from bisect_tool.runs.gpus import Gpu
from bisect_tool.stopping import Cancelled
from tests.rig.scripted_nvml import ScriptedNvml, card


@pytest.mark.parametrize(
    ("room", "most", "given"),
    [
        ([4, 4], None, [4, 4]),
        ([4, 4], 3, [2, 1]),
        ([1, 8], 6, [1, 5]),
        ([0, 2], 4, [0, 2]),
        ([8, 8, 8], 3, [1, 1, 1]),
        ([], 3, []),
        ([4], 0, [0]),
    ],
)
def test_slots_are_spread_over_the_nodes(room: list[int], most: int | None, given: list[int]) -> None:
    assert shared_out(room, most) == given


def node(number: int, kind: str = "", gpus: int = 0, driver: str = "580.1", cpus: int = 4) -> Node:
    cards = tuple(Gpu(f"GPU-{number}{n}", kind, (9, 0)) for n in range(gpus))
    why = "" if gpus else "NVML says: no driver"
    facts = NodeFacts(f"host-{number}", "Linux", own_tool(), "/cache", "boot", frozenset(), False, cards, driver, why)  # noqa: FBT003
    found = FoundNode(f"id-{number}", f"host-{number}", f"10.0.0.{number}", cpus, gpus, is_alive=True, why="")
    return Node(f"node-{number}", found, facts, None, Path("/x"), First(has_one=True), set())


def cluster(*nodes: Node) -> Cluster:
    made = Cluster("auto", Path("/cache"), lambda: ScriptedNvml(()))
    made.nodes += nodes
    made._is_open = True
    return made


def test_the_most_frequent_kind_of_gpu_is_used_with_its_oldest_driver() -> None:
    some = cluster(node(1, "H200", 2, "580.9"), node(2, "H200", 4, "580.10"), node(3, "A100", 4), node(4))
    device = some.find_device(["cuda", "cpu"], {})
    assert (device.name, device.kind, device.driver) == ("cuda", "H200", "580.9")
    assert [one.room_for(device) for one in some.nodes] == [2, 4, 0, 0]


def test_without_gpus_it_is_the_next_device_of_the_spec() -> None:
    device = cluster(node(1)).find_device(["cuda", "cpu"], {})
    assert (device.name, device.kind) == ("cpu", "cpu")


def test_a_device_that_no_node_has_is_missing_and_why() -> None:
    with pytest.raises(DeviceMissing, match=r"no node of the cluster has that: .*NVML says: no driver"):
        cluster(node(1)).find_device(["cuda"], {})


def test_a_node_that_is_gone_counts_for_nothing() -> None:
    lost = node(1, "H200", 8)
    lost.gone = "the power"
    assert cluster(lost, node(2, "A100", 1)).find_device(["cuda"], {}).kind == "A100"


def test_a_node_with_gpus_of_two_kinds_is_not_used_for_them() -> None:
    mixed = ScriptedNvml((card(0), card(1, "NVIDIA A100")))
    gpus, driver, why = gpus_here(lambda: mixed, {})
    assert (gpus, driver) == ((), "580.159.03")
    assert "several kinds" in why


def test_a_node_with_another_version_of_the_tool_is_refused() -> None:
    other = Keeper(lambda: ScriptedNvml(())).open(Tool("0.0.1", "f" * 16))
    assert isinstance(other, Failed)
    assert "the driver 0.0.1" in other.what
    assert "install the same bisect-tool[ray] on every node" in other.advice


def test_a_job_that_is_called_off_before_it_begins_never_begins(tmp_path: Path) -> None:
    signs = Signs(tmp_path)
    assert signs.call_off("job-1") is False
    with pytest.raises(Cancelled), signs.watching("job-1"):
        pass


@pytest.mark.parametrize("how", ["asked", "abandoned"])
def test_a_job_under_way_ends_when_it_is_called_off_and_when_its_keeper_is_gone(tmp_path: Path, how: str) -> None:
    signs, ended = Signs(tmp_path / "keeper"), threading.Event()
    signs.folder.mkdir()
    with signs.watching("job-1") as stop, stop.ending(ended.set):
        if how == "asked":
            assert signs.call_off("job-1") is True
        else:
            signs.folder.rename(tmp_path / "gone")
        assert ended.wait(30)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    monkeypatch.setenv("BISECT_CACHE", str(tmp_path / "cache"))
    home.cache_clear()
    interpreter_like.cache_clear()
    return find_interpreter(None, find_uv(tmp_path / "uv", {}))


def test_an_interpreter_at_another_path_is_found_by_what_it_is(own: Interpreter) -> None:
    found = interpreter_like(replace(own, path=Path("/elsewhere/python")), exactly=False)
    assert found.identity == own.identity
    assert found.path != Path("/elsewhere/python")


def test_on_the_packages_of_the_interpreter_its_path_must_be_the_same(own: Interpreter) -> None:
    with pytest.raises(PythonMissing, match="this node has no cpython"):
        interpreter_like(replace(own, path=Path("/elsewhere/python")), exactly=True)
