"""Whole runs on a Ray cluster of two nodes on this machine, with real uv; workers, a node and the driver are killed."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.integration.conftest import Place, failing, history, kill
from tests.integration.test_run import MAIN, ends
from tests.integration.test_slots import started_below, waiting_spec

if TYPE_CHECKING:
    from tests.rig.ray_cluster import RigCluster

pytest.importorskip("ray", reason="Ray is not installed: pip install 'bisect-tool[ray]'")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RigCluster]:
    from tests.rig.ray_cluster import ray_cluster

    with ray_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def far(place: Place, cluster: RigCluster) -> Place:
    """Whatever runs here, runs on two nodes with two slots each."""
    while len(cluster.alive()) < 2:
        cluster.add()
    place.extra |= {"BISECT_EXECUTOR": "ray", "BISECT_RAY_ADDRESS": cluster.address, "BISECT_JOBS": "4"}
    return place


def gone(pids: list[int]) -> bool:
    psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=120)
    return not any(psutil.pid_exists(pid) for pid in pids)


def wait_for(folder: Path, count: int) -> list[int]:
    """The process ids of the trials, once so many run; a node takes its time to start its processes."""
    deadline = time.monotonic() + 300
    while len(found := [int(path.suffix[1:]) for path in folder.glob("1.*")]) < count:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def test_the_answer_is_the_same_and_everything_was_made_on_the_nodes(far: Place, cluster: RigCluster) -> None:
    far.publish(history(12, failing(range(7, 12))))
    answer = far.answer("run", far.spec(cases=MAIN, from_="1.0"), "--ahead", "off")
    assert ends(answer) == [("exact", "1.6", "1.7", "open", "1.11", None)]
    assert answer["time"]["slots"] == 4
    # Each log is here, no environment is.
    assert len(list((far.cache / "trials").glob("*/log.txt"))) == answer["counts"]["trials"]
    assert list((far.cache / "environments").iterdir()) == []
    on_nodes = [name for node in cluster.nodes for name in node.environments()]
    assert len(set(on_nodes)) == answer["counts"]["builds_installed"]
    assert not [left for node in cluster.nodes for left in (node.cache / "trials").iterdir()]
    text = far.run("run", far.spec(cases=MAIN, from_="1.0"), "--plain")
    assert text.status == 0, text.err
    replayed = far.run("replay", "last", "--quiet")
    assert replayed.status == 0, replayed.out


def test_a_worker_and_a_node_that_are_killed_and_one_that_joins_change_nothing(far: Place, cluster: RigCluster) -> None:
    spec, folder = waiting_spec(far)
    process = far.start("run", spec, "--plain", "--ahead", "off")
    wait_for(folder, 4)
    first, second = cluster.alive()
    first.workers("run_trial_there")[0].kill()
    wait_for(folder, 5)  # the trial was made again there, and no other
    cluster.kill(second)
    cluster.add()
    wait_for(folder, 6)  # on the node that joined
    (folder / "go").touch()
    out, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    assert "is lost, its work goes to the others" in told
    assert "new slots: " in told
    assert "appeared in 1.7" in out
    assert started_below(far) == []


def test_a_driver_that_is_killed_leaves_nothing_on_the_nodes_and_goes_on(far: Place) -> None:
    spec, folder = waiting_spec(far)
    process = far.start("run", spec)
    pids = wait_for(folder, 4)
    kill(process)
    assert gone(pids)
    (folder / "go").touch()
    assert ends(far.answer("run", spec)) == [("exact", "1.6", "1.7", "open", "1.11", None)]


def test_ctrl_c_ends_what_runs_on_the_nodes(far: Place) -> None:
    spec, folder = waiting_spec(far)
    process = far.start("run", spec)
    pids = wait_for(folder, 4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    assert gone(pids)


def test_a_node_without_room_gives_its_work_to_the_others(far: Place, cluster: RigCluster) -> None:
    full = cluster.add(BISECT_MAX_CACHE="1")
    far.publish(history(12, failing(range(7, 12))))
    ran = far.run("run", far.spec(cases=MAIN, from_="1.0"), "--plain", "--json", far.root / "answer.json")
    cluster.kill(full)
    assert ran.status == 0, ran.err
    answer = json.loads((far.root / "answer.json").read_text())
    assert ends(answer) == [("exact", "1.6", "1.7", "open", "1.11", None)]
    words = r"slot (node-\d) slot \d has no room and is tried again later, its work goes to the others: \1 \("
    assert (told := re.search(words, ran.err)), ran.err  # nodes of one machine come in any order
    assert any(note.startswith(f"no room was left on {told[1]} (") for note in answer["advice"])
    assert full.environments() == []


def test_when_no_node_has_room_the_run_ends_with_that(place: Place) -> None:
    place.extra |= {
        "BISECT_EXECUTOR": "ray",
        "BISECT_RAY_ADDRESS": "local",
        "BISECT_JOBS": "2",
        "BISECT_MAX_CACHE": "1",
    }
    ran = place.run("run", _any_spec(place), "--plain")
    assert ran.status == 20, ran.err
    assert "everything left in it is in use" in ran.err
    assert "--max-cache" in ran.err


def test_an_address_where_nobody_is_says_what_to_start(place: Place) -> None:
    ran = place.run("run", _any_spec(place), "--executor", "ray", "--ray-address", "127.0.0.1:9")
    assert ran.status == 18, ran.err
    assert "ray start --head" in ran.err


def test_a_name_of_no_executor_says_which_there_are(place: Place) -> None:
    ran = place.run("run", _any_spec(place), "--executor", "rey")
    assert ran.status == 18, ran.err
    assert "did you mean 'ray'?" in ran.err


def _any_spec(place: Place) -> Path:
    place.publish(history(2, {}))
    return place.spec(cases=MAIN, from_="1.0")
