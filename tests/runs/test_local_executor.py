"""The slots of this machine, with real processes but no environments that must be made."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Empty, Queue
from typing import NoReturn

import psutil
import pytest

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import Checking, Environment, EnvironmentKey, Environments, Step
from bisect_tool.environments.health import Health
from bisect_tool.environments.uv import Uv
from bisect_tool.runs.executors import (
    Arrival,
    Ended,
    GpuNews,
    Held,
    HoldLock,
    OpenEnvironment,
    RanTrial,
    RunTrial,
    SlotLost,
    Told,
    WaitingForFirst,
)
from bisect_tool.runs.executors.local import LocalExecutor, Slot
from bisect_tool.runs.gpu_watch import GpuWatch
from bisect_tool.stopping import Cancelled
from bisect_tool.trials.trial import TrialOrder
from tests.rig.scripted_executor import PYTHON
from tests.rig.scripted_nvml import GIB, IDLE, ScriptedNvml, card, crowded

Open = Callable[[Sequence[Slot]], LocalExecutor]
SHOW = b"import os, sys; print(os.environ.get('CUDA_VISIBLE_DEVICES')); sys.exit(int(sys.argv[1]))\n"
HANG = b"import os, time; open(os.environ['BISECT_CHECKS'] + '.pid', 'w').write(str(os.getpid())); time.sleep(600)\n"


@dataclass(frozen=True)
class Unmade(Environments, ABC):
    """Makes nothing: `makes` is called instead, with the version and what is told of the steps."""

    @abstractmethod
    def makes(self, version: str, tell: Callable[[Step], None]) -> None:
        """As if the environment of this version was made."""

    @contextmanager
    def use(
        self,
        key: EnvironmentKey,
        install: Callable[[], Installation],  # noqa: ARG002  as in Environments
        *,
        device: str,  # noqa: ARG002
        as_of: datetime | None,  # noqa: ARG002
        tell: Callable[[Step], None] = lambda _step: None,
    ) -> Iterator[Environment]:
        self.makes(key.build.version, tell)
        yield Environment(Path(key.build.version), Health("1", None, "3", {}, {}), cached=False)


@dataclass(frozen=True)
class Counting(Unmade):
    """The first one takes until `go` is set. `made` lists them as they are begun."""

    go: threading.Event = field(default_factory=threading.Event)
    made: list[str] = field(default_factory=list)

    def makes(self, version: str, tell: Callable[[Step], None]) -> None:  # noqa: ARG002
        self.made.append(version)
        self.go.wait(60)


@dataclass(frozen=True)
class InSteps(Unmade):
    """Goes on to the health check, and ends it, when it is let. `at` tells how far each has come."""

    fetched: threading.Event = field(default_factory=threading.Event)
    proven: threading.Event = field(default_factory=threading.Event)
    at: Queue[str] = field(default_factory=Queue)

    def makes(self, version: str, tell: Callable[[Step], None]) -> None:
        self.at.put(f"{version} fetched")
        self.fetched.wait(60)
        tell(Checking())
        self.at.put(f"{version} proven")
        self.proven.wait(60)


def opening(number: int) -> OpenEnvironment:
    key = EnvironmentKey(Build("toy", f"1.{number}", "toy.whl", "https://x/toy.whl", sha256=f"{number:064x}"), PYTHON)
    return OpenEnvironment(key, lambda: Installation(()), device="cpu", as_of=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    programs = tmp_path / "environment" / "venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    return tmp_path


@pytest.fixture
def opened(folder: Path) -> Iterator[Open]:
    made: list[LocalExecutor] = []

    def make(slots: Sequence[Slot]) -> LocalExecutor:
        cache = open_cache(folder / "cache")
        made.append(LocalExecutor(slots, Environments(cache, Uv(Path("/uv"), cache.uv, {}), {}), {}))
        return made[0]

    yield make
    made[0].close()


def trial(folder: Path, script: bytes, *, name: str = "t", device: str = "cuda", status: int = 0) -> RunTrial:
    order = TrialOrder((("repro.py", script),), ("python", "repro.py", str(status)), {}, 60, device)
    return RunTrial(
        order, Environment(folder / "environment", Health("1", None, "3", {}, {}), cached=True), folder / name
    )


def until_ended(executor: LocalExecutor, count: int = 1) -> list[Arrival]:
    found: list[Arrival] = []
    while sum(isinstance(one, Ended) for one in found) < count:
        found += executor.arrivals(timeout=60)
    return found


def results(arrivals: Sequence[Arrival]) -> list[object]:
    return [one.result for one in arrivals if isinstance(one, Ended)]


def test_each_slot_shows_its_trials_its_own_gpu_and_cpu_trials_none(folder: Path, opened: Open) -> None:
    nvml = ScriptedNvml((card(0), card(1)))
    slots = [Slot(gpu.uuid, {"CUDA_VISIBLE_DEVICES": gpu.uuid}, GpuWatch(nvml, gpu)) for gpu in nvml.cards]
    executor = opened(slots)
    for slot in (0, 1):
        executor.start(slot, trial(folder, SHOW, name=f"t{slot}"))
    ended = {one.slot: one.result for one in until_ended(executor, 2) if isinstance(one, Ended)}
    seen = [ran.finished.observation for _, ran in sorted(ended.items()) if isinstance(ran, RanTrial)]
    assert [one.output.strip() for one in seen] == ["GPU-00000000-0000", "GPU-00000001-0000"]
    assert [(one.gpu_others, one.gpu_total) for one in seen] == [(0, 139 * GIB)] * 2
    executor.start(0, trial(folder, SHOW, name="cpu", device="cpu"))
    (ran,) = results(until_ended(executor))
    assert isinstance(ran, RanTrial)
    assert ran.finished.observation.output == "\n"


def test_a_card_that_is_lost_during_a_trial_loses_the_slot_and_not_the_build(folder: Path, opened: Open) -> None:
    nvml = ScriptedNvml((card(0),), {card(0).uuid: [IDLE, "it has fallen off the bus"]})
    executor = opened([Slot("0", {}, GpuWatch(nvml, card(0)))])
    executor.start(0, trial(folder, SHOW, status=1))
    (lost,) = results(until_ended(executor))
    assert isinstance(lost, SlotLost)


def test_a_busy_card_is_told_and_what_others_hold_is_in_the_observation(folder: Path, opened: Open) -> None:
    nvml = ScriptedNvml((card(0),), {card(0).uuid: [crowded(100)]})
    executor = opened([Slot("0", {}, GpuWatch(nvml, card(0)))])
    executor.start(0, trial(folder, SHOW))
    arrivals = until_ended(executor)
    assert any(isinstance(one, Told) and isinstance(one.news, GpuNews) for one in arrivals)
    (ran,) = results(arrivals)
    assert isinstance(ran, RanTrial)
    assert ran.finished.observation.gpu_others == 100 * GIB


def test_a_trial_that_is_called_off_leaves_no_process_and_no_folder(folder: Path, opened: Open) -> None:
    executor = opened([Slot("0")])
    executor.start(0, trial(folder, HANG))
    mark = folder / "t" / "checks.jsonl.pid"
    while not (mark.exists() and mark.read_text()):
        assert not executor.arrivals(timeout=0.02)
    pid = int(mark.read_text())
    executor.cancel(0)
    (result,) = results(until_ended(executor))
    assert isinstance(result, Cancelled)
    assert not psutil.pid_exists(pid)
    assert not (folder / "t").exists()


def test_waiting_for_a_lock_or_a_card_ends_when_it_is_called_off(folder: Path, opened: Open) -> None:
    nvml = ScriptedNvml((card(0),), {card(0).uuid: [crowded(100)]})
    executor = opened([Slot("0"), Slot("1"), Slot("2", {}, GpuWatch(nvml, card(0), wait=3600))])
    executor.start(0, HoldLock(folder / "lock"))
    (held,) = results(until_ended(executor))
    assert isinstance(held, Held)
    executor.start(1, HoldLock(folder / "lock"))
    executor.start(2, trial(folder, SHOW))
    news: list[Arrival] = []
    while len(news) < 2:
        news += executor.arrivals(timeout=60)
    executor.close()
    assert all(isinstance(one, Cancelled) for one in results(executor.arrivals(timeout=0)))
    with closing(held.lease):
        pass


def test_the_first_environment_of_an_empty_cache_is_made_alone(folder: Path) -> None:
    """Two slots at once: the second begins once the first is done; after that nobody waits."""
    cache = open_cache(folder / "cache")
    environments = Counting(cache, Uv(Path("/uv"), cache.uv, {}), {})
    with closing(LocalExecutor([Slot("0"), Slot("1")], environments, {})) as executor:
        for slot in (0, 1):
            executor.start(slot, opening(slot))
        (told,) = executor.arrivals(timeout=60)
        assert isinstance(told, Told)
        assert isinstance(told.news, WaitingForFirst)
        assert len(environments.made) == 1
        environments.go.set()
        until_ended(executor, 2)
        for slot in (0, 1):
            executor.start(slot, opening(slot + 2))
        assert not any(isinstance(one, Told) for one in until_ended(executor, 2))


def test_ahead_of_need_one_is_fetched_at_a_time_and_another_one_while_it_is_proven(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    (cache.environments / "another").mkdir()
    environments = InSteps(cache, Uv(Path("/uv"), cache.uv, {}), {})
    with closing(LocalExecutor([Slot("0")], environments, {})) as executor:
        for number in (1, 2, 3):
            executor.prepare(opening(number), 1000)
        assert environments.at.get(timeout=60) == "1.1 fetched"
        with pytest.raises(Empty):  # the second thread has begun long before, and waits
            environments.at.get(timeout=0.2)
        environments.fetched.set()
        assert [environments.at.get(timeout=60) for _ in range(3)] == ["1.1 proven", "1.2 fetched", "1.2 proven"]
        with pytest.raises(Empty):  # no third one beside two that are being proven
            environments.at.get(timeout=0.2)
        environments.proven.set()
        assert [environments.at.get(timeout=60) for _ in range(2)] == ["1.3 fetched", "1.3 proven"]


def test_what_was_fetched_ahead_in_vain_lets_the_next_one_go(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    (cache.environments / "another").mkdir()

    class Breaking(InSteps):
        def use(self, key: EnvironmentKey, *_words: object, **_more: object) -> NoReturn:
            self.at.put(key.build.version)
            raise RuntimeError

    environments = Breaking(cache, Uv(Path("/uv"), cache.uv, {}), {})
    with closing(LocalExecutor([Slot("0")], environments, {})) as executor:
        for number in (1, 2, 3):
            executor.prepare(opening(number), 1000)
        assert sorted(environments.at.get(timeout=60) for _ in range(3)) == ["1.1", "1.2", "1.3"]
