"""What every executor promises, for each of them: with real uv, real processes, and for Ray a real cluster of one node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import BuildUnusable, Environments, Making
from bisect_tool.environments.uv import find_uv
from bisect_tool.runs.executors import (
    AheadEnded,
    Arrival,
    Ended,
    Held,
    HoldLock,
    Opened,
    RanTrial,
    SlotLost,
    Told,
    WaitingForLock,
)
from bisect_tool.runs.executors.local import LocalExecutor, Slot
from bisect_tool.stopping import Cancelled
from tests.rig.card_folder import CARDS, CardFolder
from tests.rig.executor_bench import Bench
from tests.rig.index import Index, serve
from tests.rig.toy import ToyBuild, day, toy_package
from tests.rig.wheel_maker import WheelFault

SHOW = b"import os, sys, toy; print(toy.__version__, os.environ['WORD'], open(sys.argv[1]).read()); sys.exit(3)\n"
# Both at once: each waits for the other.
SHOW_GPU = b"""import os, time
from pathlib import Path
place = Path(os.environ['PLACE'])
(place / f"{os.getpid()}.here").touch()
while len(list(place.glob('*.here'))) < 2:
    time.sleep(0.02)
print(os.environ['CUDA_VISIBLE_DEVICES'])
"""
HANG = b"import os, time; open(os.environ['SIGN'], 'w').write(str(os.getpid())); time.sleep(600)\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("wheels")
    history = [ToyBuild(f"1.{n}", uploaded=day(n + 1)) for n in range(3)]
    toy_package(folder, "toy", [*history, ToyBuild("1.9", uploaded=day(9), broken=[WheelFault.OTHER_VERSION_INSIDE])])
    with serve(folder) as served:
        yield served


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """Starts a cluster when it is needed, once, and connects to it."""
    opened: list[Any] = []
    with ExitStack() as stack:

        def start() -> Any:
            from bisect_tool.runs.executors.cluster.nodes import Cluster
            from tests.rig.ray_cluster import ray_cluster

            if not opened:
                folder = tmp_path_factory.mktemp("cluster")
                address = stack.enter_context(ray_cluster(folder, gpus=2)).address
                opened.append(stack.enter_context(closing(Cluster(address, folder, CardFolder(folder)))))
                opened[0].open()
            return opened[0]

        yield start


@pytest.fixture(params=["local", "ray"])
def bench(request: pytest.FixtureRequest, tmp_path: Path, index: Index, nodes: Callable[[], Any]) -> Iterator[Bench]:
    if request.param == "local":
        cache = open_cache(tmp_path / "cache")
        environ = dict(os.environ)
        environments = Environments(cache, find_uv(cache.uv, environ), environ)
        with closing(LocalExecutor([Slot("1"), Slot("2")], environments, environ)) as executor:
            yield Bench(executor, tmp_path, index)
        return
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'bisect-tool[ray]'")
    from bisect_tool.runs.device import Device
    from bisect_tool.runs.executors.ray import RayExecutor

    with closing(RayExecutor(nodes(), Device("cpu", "cpu"), 2)) as far:
        yield Bench(far, tmp_path, index)


def test_an_environment_is_made_once_and_its_trials_leave_their_logs_here(bench: Bench) -> None:
    """The whole way in one test, because an environment takes seconds."""
    bench.executor.start(0, bench.opening("1.0"))
    arrivals = bench.until(Ended)
    assert any(isinstance(one, Told) and isinstance(one.news, Making) for one in arrivals)
    (opened,) = [one.result for one in arrivals if isinstance(one, Ended)]
    assert isinstance(opened, Opened), opened
    assert (opened.environment.cached, opened.environment.health.version) == (False, "1.0")
    with bench.opened("1.0") as again:
        assert again.cached
    bench.executor.start(1, bench.trial(opened.environment, SHOW, WORD="travels"))
    ran = bench.ended(1)
    assert isinstance(ran, RanTrial), ran
    seen, folder = ran.finished.observation, bench.folder / "cache" / "trials" / "20260101-t"
    assert (seen.exit_status, seen.output) == (3, "1.0 travels by content\n")
    assert ran.finished.folder == folder
    assert (folder / "log.txt").read_text() == seen.output
    assert (folder / "repro" / "data" / "words.txt").read_text() == "by content"
    assert {"command.sh", "observation.json"} <= {path.name for path in folder.iterdir()}
    opened.lease.close()


def test_two_slots_that_want_the_same_environment_make_it_once(bench: Bench) -> None:
    for slot in (0, 1):
        bench.executor.start(slot, bench.opening("1.2"))
    ended: list[Ended] = []
    while len(ended) < 2:
        ended += [one for one in bench.until(Ended) if isinstance(one, Ended)]
    opened = [one.result for one in ended if isinstance(one.result, Opened)]
    assert sorted(one.environment.cached for one in opened) == [False, True]
    for one in opened:
        one.lease.close()


def test_a_build_that_is_not_what_it_says_is_unusable(bench: Bench) -> None:
    bench.executor.start(0, bench.opening("1.9"))
    result = bench.ended()
    assert isinstance(result, BuildUnusable), result


def test_what_is_called_off_leaves_no_process_and_no_folder(bench: Bench) -> None:
    with bench.opened("1.0") as environment:
        sign = bench.folder / "sign"
        bench.executor.start(0, bench.trial(environment, HANG, SIGN=str(sign)))
        while not (sign.exists() and sign.read_text()):
            assert not any(isinstance(one, Ended) for one in bench.executor.arrivals(timeout=0.05))
        pid = int(sign.read_text())
        bench.executor.cancel(0)
        assert isinstance(bench.ended(), Cancelled)
        assert not psutil.pid_exists(pid)
        assert not (bench.folder / "cache" / "trials" / "20260101-t").exists()
        assert not list(environment.folder.parents[1].glob("trials/*"))


def test_closing_ends_what_runs_and_its_end_can_still_be_taken(bench: Bench) -> None:
    with bench.opened("1.0") as environment:
        sign = bench.folder / "sign"
        bench.executor.start(0, bench.trial(environment, HANG, SIGN=str(sign)))
        while not (sign.exists() and sign.read_text()):
            bench.executor.arrivals(timeout=0.05)
        bench.executor.close()
        assert not psutil.pid_exists(int(sign.read_text()))
    ended = [one.result for one in bench.executor.arrivals(timeout=0) if isinstance(one, Ended)]
    assert [type(one) for one in ended] == [Cancelled]


def test_a_lock_is_waited_for_until_it_is_let_go(bench: Bench) -> None:
    bench.executor.start(0, HoldLock(bench.folder / "lock"))
    held = bench.ended()
    assert isinstance(held, Held), held
    bench.executor.start(1, HoldLock(bench.folder / "lock"))
    (told,) = bench.until(Told)
    assert isinstance(told, Told)
    assert told.news == WaitingForLock()
    held.lease.close()
    second = bench.ended(1)
    assert isinstance(second, Held), second
    second.lease.close()


def test_what_is_made_ahead_is_there_when_it_is_opened(bench: Bench) -> None:
    bench.executor.prepare(bench.opening("1.1"), 1000)
    (ended,) = [one for one in bench.until(AheadEnded) if isinstance(one, AheadEnded)]
    assert ended.error is None
    with bench.opened("1.1") as environment:
        assert environment.cached


def test_what_is_dropped_before_it_began_is_not_made(bench: Bench) -> None:
    job = bench.opening("1.2")
    bench.executor.prepare(replace(job, key=bench.opening("1.1").key), 1000)
    bench.executor.prepare(job, 1000)
    bench.executor.drop(job.key.digest)
    ends: list[Arrival] = []
    while len(ends) < 2:
        ends += [one for one in bench.until(AheadEnded) if isinstance(one, AheadEnded)]
    (error,) = [one.error for one in ends if isinstance(one, AheadEnded) and one.digest == job.key.digest]
    assert isinstance(error, Cancelled)


def test_a_trial_has_a_gpu_of_its_node_and_a_sick_one_is_given_to_nobody_else(
    tmp_path: Path, index: Index, nodes: Callable[[], Any]
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'bisect-tool[ray]'")
    from bisect_tool.runs.executors.ray import RayExecutor

    cluster = nodes()
    device = cluster.find_device(["cuda", "cpu"], {})
    assert (device.name, device.kind, device.driver) == ("cuda", "NVIDIA H200", "580.159.03")
    with closing(RayExecutor(cluster, device, None)) as executor:
        bench = Bench(executor, tmp_path, index)
        assert executor.slots == ("node-1 gpu 0", "node-1 gpu 1")
        with bench.opened("1.0") as environment:
            for slot in (0, 1):
                job = bench.trial(environment, SHOW_GPU, f"20260101-{slot}", PLACE=str(tmp_path))
                executor.start(slot, replace(job, order=replace(job.order, device="cuda")))
            ended: list[Ended] = []
            while len(ended) < 2:
                ended += [one for one in bench.until(Ended) if isinstance(one, Ended)]
            seen = [one.result.finished.observation for one in ended if isinstance(one.result, RanTrial)]
            assert sorted(one.output.strip() for one in seen) == [one.uuid for one in CARDS]
            assert [one.gpu_others for one in seen] == [0, 0]
            (cluster.cache / CARDS[0].uuid).touch()
            job = bench.trial(environment, SHOW, "20260102-0", WORD="sick")
            executor.start(0, job)
            lost = bench.ended(0)
            assert isinstance(lost, SlotLost), lost
            assert "fallen off the bus" in str(lost)
            executor.retire(0)
            executor.start(1, replace(job, folder=job.folder.with_name("20260102-1")))
            ran = bench.ended(1)
            assert isinstance(ran, RanTrial), ran
            assert ran.finished.observation.exit_status == 3
