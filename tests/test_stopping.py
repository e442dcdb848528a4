from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bisect_tool.environments import locks
from bisect_tool.environments.uv import Uv
from bisect_tool.stopping import Cancelled, Stop

LOOP = "#!/bin/sh\necho started >&2\nexec sleep 600\n"


def outcome_of(work: Callable[[], object], stop: Stop, begun: Callable[[], bool]) -> object:
    """Stop `work`, which runs in a thread of its own, once it has begun; what it ended with."""
    found: list[object] = []

    def go() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  what it is, is the question
            found.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    while not begun():
        time.sleep(0.01)
    stop.set()
    thread.join(30)
    return found[0]


def test_a_call_of_uv_ends_with_its_process(tmp_path: Path) -> None:
    program = tmp_path / "uv"
    program.write_text(LOOP.replace("echo", f"echo $$ > {tmp_path}/pid; echo"))
    program.chmod(0o755)
    stop, pid = Stop(), tmp_path / "pid"
    uv = Uv(program, tmp_path / "cache", {}, stop)
    found = outcome_of(lambda: uv.call("venv"), stop, lambda: pid.exists() and bool(pid.read_text().strip()))
    assert isinstance(found, Cancelled)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    with pytest.raises(Cancelled):
        uv.call("venv")


def test_a_wait_for_a_lock_ends(tmp_path: Path) -> None:
    stop, waits = Stop(), threading.Event()
    path = tmp_path / "lock"

    def wait() -> None:
        with locks.exclusive(path, waits.set, stop):
            raise AssertionError("it is held by somebody else")

    with locks.exclusive(path):
        assert isinstance(outcome_of(wait, stop, waits.is_set), Cancelled)
    with locks.exclusive(path):
        pass


def test_who_comes_too_late_is_ended_at_once_and_who_is_done_is_left_alone() -> None:
    stop, ended = Stop(), list[str]()
    with stop.ending(lambda: ended.append("early")):
        pass
    stop.set()
    assert ended == []
    with stop.ending(lambda: ended.append("late")):
        assert ended == ["late"]
    with pytest.raises(Cancelled):
        stop.sleep(600)
