from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from bisect_tool.errors import MachineFault
from bisect_tool.trials import process
from bisect_tool.trials.capture import HEAD, TAIL
from bisect_tool.trials.process import Ended, run_process
from tests.rig.scripts import oddly_named_copy, script, script_copy, survivors

MEGABYTE = 1_000_000


@pytest.fixture
def pid_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "pids"
    path.touch()
    yield path
    for one in survivors(path):
        one.kill()


def run(folder: Path, *command: str | Path, timeout: float = 30) -> Ended:
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(folder), "BISECT_CHECKS": str(folder / "checks")}
    return run_process(
        [str(word) for word in command], environ=environ, folder=folder, timeout=timeout, mark=uuid.uuid4().hex
    )


def run_script(folder: Path, name: str, *arguments: str | Path, timeout: float = 30) -> Ended:
    return run(folder, sys.executable, script(name), *arguments, timeout=timeout)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("name", "arguments", "status", "by_signal", "said"),
    [
        ("exits", ["0"], 0, None, "exiting with 0\n"),
        ("exits", ["125"], 125, None, "exiting with 125\n"),
        ("exits", ["255"], 255, None, "exiting with 255\n"),
        ("kills_itself", ["SIGSEGV"], None, signal.SIGSEGV, "sending SIGSEGV\n"),
        ("kills_itself", ["SIGKILL"], None, signal.SIGKILL, "sending SIGKILL\n"),
        ("kills_itself", ["SIGTERM"], None, signal.SIGTERM, "sending SIGTERM\n"),
        ("kills_itself", ["SIGINT"], None, signal.SIGINT, None),
        ("closes_output", [], 3, None, "last words\n"),
        ("changes_directory", [], 0, None, "now in /\n"),
        ("reads_stdin", [], 0, None, "read 0 characters\n"),
        ("fills_disk", ["3000000"], 0, None, None),
        ("leaves_temporary_files", [], 0, None, None),
        ("needs_a_terminal", [], 1, None, None),
        ("prints_and_segfaults", [], None, signal.SIGSEGV, "to standard output\nto standard error\n"),
    ],
)
def test_how_it_ended(
    tmp_path: Path, name: str, arguments: list[str], status: int | None, by_signal: int | None, said: str | None
) -> None:
    ended = run_script(tmp_path, name, *arguments)
    assert (ended.exit_status, ended.signal, ended.timed_out, ended.left_running) == (status, by_signal, False, 0)
    if said is not None:
        assert ended.output == said
        assert ended.output_bytes == len(said)


def test_binary_output_is_kept_as_escapes(tmp_path: Path) -> None:
    ended = run_script(tmp_path, "writes_binary")
    assert ended.exit_status == 1
    assert ended.output_bytes == 2 * 277
    assert "\\xff\\xc3( \x1b[31mred\x1b[2J\x00 \\xf0\\x9f\\x92\n" in ended.output


def test_an_endless_recursion_fails(tmp_path: Path) -> None:
    ended = run_script(tmp_path, "recurses_without_limit")
    assert (ended.exit_status, ended.signal) in {(1, None), (None, signal.SIGSEGV)}


def test_odd_names_and_arguments_arrive_byte_by_byte(tmp_path: Path) -> None:
    path = os.fsdecode(oddly_named_copy(tmp_path))
    ended = run(tmp_path, sys.executable, path, os.fsdecode(b"\xff"), "two words", "")
    assert ended.output.splitlines()[0].endswith("/repro-\\xff\\xfe.py")
    assert ended.output.splitlines()[1:] == ["\\xff", "two words", ""]


@pytest.mark.parametrize("name", ["deletes_its_folders", "changes_its_script"])
def test_scripts_that_spoil_their_own_folders(tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    assert run(work, sys.executable, script_copy(name, tmp_path / "copies")).exit_status == 0


@pytest.mark.parametrize(("name", "left"), [("daemonises", 1), ("exits_while_child_holds_output", 1)])
def test_what_is_left_running_is_killed_and_does_not_delay(
    tmp_path: Path, pid_file: Path, name: str, left: int
) -> None:
    ended = run_script(tmp_path, name, pid_file)
    assert (ended.exit_status, ended.left_running) == (0, left)
    assert ended.duration < 5
    assert survivors(pid_file) == []


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("forks_and_never_ends", 1),
        ("double_forks_and_never_ends", 1),
        ("changes_process_group", 1),
        ("forks_many", 50),
        ("ignores_sigterm", 0),
    ],
)
def test_nothing_survives_the_timeout(tmp_path: Path, pid_file: Path, name: str, others: int) -> None:
    ended = run_script(tmp_path, name, pid_file, timeout=1.0)
    assert (ended.timed_out, ended.exit_status, ended.left_running) == (True, None, others)
    assert 1.0 <= ended.duration < 6
    assert len(pid_file.read_text().split()) >= others
    assert survivors(pid_file) == []


@pytest.mark.parametrize("name", ["stops_itself", "threads_never_end"])
def test_stopped_and_threaded_processes_end_at_the_timeout(tmp_path: Path, name: str) -> None:
    ended = run_script(tmp_path, name, timeout=1.0)
    assert (ended.timed_out, ended.exit_status) == (True, None)
    assert not psutil.pid_exists(ended.pid)


def test_a_timeout_shows_where_the_process_was(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("import time\ndef stuck():\n    time.sleep(600)\nstuck()\n")
    ended = run(tmp_path, sys.executable, "-X", "faulthandler", "repro.py", timeout=1.0)
    assert ended.timed_out
    assert 'repro.py", line 3 in stuck' in ended.output


@pytest.mark.parametrize("shape", ["", "line"])
def test_output_without_end_is_capped(tmp_path: Path, shape: str) -> None:
    ended = run_script(tmp_path, "prints_without_end", str(30 * MEGABYTE), *([shape] if shape else []))
    assert ended.exit_status == 0
    assert ended.output_bytes == 30 * MEGABYTE + 30
    assert len(ended.output) < HEAD + TAIL + 100
    assert ended.output.startswith("the first line\n")
    assert ended.output.endswith("the last line\n")
    assert f"… {ended.output_bytes - HEAD - TAIL} bytes left out …" in ended.output


def test_printing_without_end_ends_at_the_timeout(tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    ended = run_script(tmp_path, "prints_without_end", str(10**12), timeout=1.0)
    assert ended.timed_out
    assert psutil.Process().memory_info().rss - before < 20 * MEGABYTE


def test_peak_memory_is_that_of_the_process_and_not_of_this_one(tmp_path: Path) -> None:
    ballast = bytearray(400 * MEGABYTE)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small = run_script(tmp_path, "exits", "0").peak_memory
    large = run_script(tmp_path, "eats_memory", str(200 * MEGABYTE)).peak_memory
    assert small is not None
    assert large is not None
    assert small < 30 * MEGABYTE
    assert 200 * MEGABYTE < large < 220 * MEGABYTE
    del ballast


def test_peak_memory_counts_the_children(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
    ended = run(tmp_path, sys.executable, "-c", code, script("eats_memory"), str(100 * MEGABYTE))
    assert ended.peak_memory is not None
    assert ended.peak_memory > 100 * MEGABYTE


def test_the_environment_is_the_one_given(tmp_path: Path) -> None:
    ended = run(tmp_path, "env")
    names = {line.partition("=")[0] for line in ended.output.splitlines()}
    assert names == {"PATH", "TMPDIR", "BISECT_CHECKS", "BISECT_TRIAL"}


def test_no_core_files_and_standard_signals(tmp_path: Path) -> None:
    code = (
        "import resource, signal; print(resource.getrlimit(resource.RLIMIT_CORE)[0], "
        "signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)"
    )
    assert run(tmp_path, sys.executable, "-c", code).output == "0 True\n"
    assert "SigIgn:\t0000000000000000" in run(tmp_path, "cat", "/proc/self/status").output


def test_no_files_are_inherited(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(read_end, True)  # noqa: FBT003
    try:
        assert sorted(run(tmp_path, "ls", "/proc/self/fd").output.split())[:3] == ["0", "1", "2"]
        assert len(run(tmp_path, "ls", "/proc/self/fd").output.split()) == 4  # and the folder that ls reads
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run(tmp_path, "no-such-program")
    (tmp_path / "plain").write_text("text")
    with pytest.raises(PermissionError):
        run(tmp_path, tmp_path / "plain")
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "no-such-folder", "true")


def test_a_machine_that_can_start_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SUPERVISOR", tmp_path / "missing.py")
    with pytest.raises(MachineFault, match="the program that watches over a trial did not start"):
        run(tmp_path, "true")


def test_ctrl_c_leaves_nothing(tmp_path: Path, pid_file: Path) -> None:
    def interrupt() -> None:
        wait_for(lambda: len(pid_file.read_text().split()) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    before = psutil.Process().children()  # such as the database server of other tests
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_script(tmp_path, "double_forks_and_never_ends", pid_file)
    thread.join()
    assert survivors(pid_file) == []
    assert [child for child in psutil.Process().children() if child not in before] == []


@pytest.mark.parametrize("name", ["double_forks_and_never_ends", "ignores_sigterm", "forks_and_never_ends"])
def test_nothing_outlives_a_tool_that_was_killed(tmp_path: Path, pid_file: Path, name: str) -> None:
    tool = start_tool(tmp_path, name, pid_file)
    tool.kill()
    tool.communicate()
    wait_for(lambda: survivors(pid_file) == [])


def test_nothing_outlives_a_supervisor_that_was_killed(tmp_path: Path, pid_file: Path) -> None:
    tool = start_tool(tmp_path, "double_forks_and_never_ends", pid_file)
    (supervisor,) = psutil.Process(tool.pid).children()
    supervisor.kill()
    assert tool.communicate(timeout=30)[0] == f"None {int(signal.SIGKILL)} False\n"
    assert survivors(pid_file) == []


def start_tool(folder: Path, name: str, pid_file: Path) -> subprocess.Popen[str]:
    """A process that runs a script, once that runs."""
    code = (
        "import sys; from pathlib import Path; from bisect_tool.trials.process import run_process\n"
        "ended = run_process(sys.argv[1:], environ={}, folder=Path.cwd(), timeout=60, mark='of-a-test')\n"
        "print(ended.exit_status, ended.signal, ended.timed_out)"
    )
    command = [sys.executable, "-c", code, sys.executable, str(script(name)), str(pid_file)]
    expected = 1 if name == "ignores_sigterm" else 2
    tool = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: len(pid_file.read_text().split()) == expected)
    return tool
