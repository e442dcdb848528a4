"""Trials that take too much are ended, and everything that they have started with them."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

from bisect_tool.errors import SettingError
from bisect_tool.trials import supervisor
from bisect_tool.trials.failure import CannotJudge
from bisect_tool.trials.judge import judge
from bisect_tool.trials.limits import Limits, _limits_of_groups, read_limits
from bisect_tool.trials.observation import Observation
from bisect_tool.trials.process import MARK, Ended, run_process

FORKS = "import os, time\nfor _ in range(30):\n    if os.fork() == 0:\n        time.sleep(100)\ntime.sleep(100)\n"
EATS = "held = bytearray(400_000_000)\nimport time\ntime.sleep(100)\n"
FILLS = "import os, time\nopen('full', 'wb').write(os.urandom(60_000_000))\nos.sync()\ntime.sleep(100)\n"


def run(folder: Path, script: str, limits: Limits) -> tuple[Ended, str]:
    work, mark = folder / "run" / "work", uuid.uuid4().hex
    work.mkdir(parents=True)
    command = [sys.executable, "-c", script]
    return run_process(command, environ=os.environ, folder=work, timeout=60, mark=mark, limits=limits), mark


@pytest.mark.parametrize(
    ("script", "limits", "told"),
    [
        (FORKS, Limits(processes=10), "processes at once, 10 are allowed"),
        (EATS, Limits(memory=200_000_000), "GB of memory, 0.2 GB are allowed"),
        (FILLS, Limits(disk=20_000_000), "into its own folder, 0.0 GB are allowed"),
    ],
)
def test_a_trial_over_its_limit_is_ended_with_all_of_its_processes(
    tmp_path: Path, script: str, limits: Limits, told: str
) -> None:
    ended, mark = run(tmp_path, script, limits)
    assert told in ended.over
    assert not ended.timed_out
    assert not [one.pid for one in psutil.process_iter() if _carries(one, mark)]


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark
    except psutil.Error:
        return False


def test_within_its_limits_a_trial_is_left_alone(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, "print('fine')", Limits(10**9, 10**9, 100))
    assert (ended.exit_status, ended.over) == (0, "")


def test_what_was_ended_for_a_limit_is_no_verdict() -> None:
    verdict = judge(Observation(None, signal=9, over="it held 9.0 GB of memory, 8.0 GB are allowed"), ())
    assert isinstance(verdict, CannotJudge)
    assert "9.0 GB" in verdict.reason


def test_limits_come_from_the_environment() -> None:
    assert read_limits({}, memory=100) == Limits(90, 64 * 10**9, 4096)
    given = {"BISECT_TRIAL_MEMORY": "2GB", "BISECT_TRIAL_DISK": "off", "BISECT_TRIAL_PROCESSES": "7"}
    assert read_limits(given, memory=100) == Limits(2 * 10**9, 0, 7)
    for name in given:
        with pytest.raises(SettingError):
            read_limits({name: "plenty"})


def test_the_memory_of_every_control_group_above_counts(tmp_path: Path) -> None:
    """Version 2, as of a Slurm job with --mem, and version 1; `max` is no limit, nor is a group that is not shown."""
    groups, own = tmp_path / "cgroup", tmp_path / "self"
    for place, text in (("job/step", "max"), ("job", "5000"), ("memory/old", "7000")):
        (groups / place).mkdir(parents=True, exist_ok=True)
        name = "memory.limit_in_bytes" if place.startswith("memory/") else "memory.max"
        (groups / place / name).write_text(f"{text}\n")
    own.write_text("0::/job/step/task\n5:cpu:/elsewhere\n4:memory:/old\n")
    assert sorted(_limits_of_groups(groups, own)) == [5000, 7000]
    assert list(_limits_of_groups(groups, tmp_path / "none")) == []


FORKS = """
import os, signal, sys
sys.path.insert(0, {place!r})
import supervisor
data = bytearray(os.urandom(1 << 20) * 48)
pids = [os.getpid()]
for _ in range(3):
    pid = os.fork()
    if not pid:
        signal.pause()
    pids.append(pid)
print(sum(map(supervisor.memory_of, pids)) >> 20, sum(map(supervisor.share_of, pids)) >> 20)
for pid in pids[1:]:
    os.kill(pid, signal.SIGKILL)
"""


def test_what_a_fork_shares_counts_once() -> None:
    place = Path(supervisor.__file__).parent
    told = subprocess.run(
        [sys.executable, "-c", FORKS.format(place=str(place))], capture_output=True, text=True, check=True
    )
    counted_each, shared = map(int, told.stdout.split())
    assert counted_each > 4 * 48
    assert 48 <= shared < 2 * 48
