from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.scripts import MARKER, oddly_named_copy, script, script_copy, survivors

NEVER_ENDING = {
    "forks_and_never_ends": 2,
    "double_forks_and_never_ends": 2,
    "changes_process_group": 2,
    "forks_many": 50,
    "ignores_sigterm": 1,
}
LEAVING = {"daemonises": "the daemon is up\n", "exits_while_child_holds_output": "done\n"}


@pytest.fixture
def pid_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "pids"
    path.touch()
    yield path
    for process in survivors(path):
        process.kill()


def run(path: Path | bytes, *arguments: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, path, *arguments],
        cwd=folder,
        env={**os.environ, "BISECT_CHECKS": str(folder / "checks"), "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(("name", "count"), NEVER_ENDING.items())
def test_never_ending_scripts_have_all_their_processes(pid_file: Path, name: str, count: int) -> None:
    with subprocess.Popen([sys.executable, script(name), str(pid_file)], stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 10
        while len(pid_file.read_text().split()) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(survivors(pid_file)) == count
        process.kill()


@pytest.mark.parametrize(("name", "said"), LEAVING.items())
def test_leaving_scripts_exit_with_0_and_leave_a_process(pid_file: Path, name: str, said: str) -> None:
    output = pid_file.with_name("output")
    with output.open("w") as stream:
        status = subprocess.run([sys.executable, script(name), str(pid_file)], stdout=stream, check=False).returncode
    assert (status, output.read_text()) == (0, said)
    assert len(survivors(pid_file)) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("exits", ["126"], 126),
        ("kills_itself", ["SIGSEGV"], -signal.SIGSEGV),
        ("kills_itself", ["SIGABRT"], -signal.SIGABRT),
        ("prints_and_segfaults", [], -signal.SIGSEGV),
        ("writes_binary", [], 1),
        ("changes_directory", [], 0),
        ("closes_output", [], 3),
        ("reads_stdin", [], 0),
        ("needs_a_terminal", [], 1),
        ("eats_memory", ["50000000"], 0),
        ("fills_disk", ["3000000"], 0),
    ],
)
def test_scripts_end_as_they_say(tmp_path: Path, name: str, arguments: list[str], status: int) -> None:
    assert run(script(name), *arguments, folder=tmp_path).returncode == status


def test_a_deep_recursion_fails(tmp_path: Path) -> None:
    assert run(script("recurses_without_limit"), folder=tmp_path).returncode in {-signal.SIGSEGV, 1}


def test_endless_output_has_the_size_asked_for(tmp_path: Path) -> None:
    seen = run(script("prints_without_end"), "1000000", "line", folder=tmp_path).stdout
    assert (len(seen), seen.count(b"\n")) == (1_000_000 + len(b"the first line\n\nthe last line\n"), 3)


def test_folders_are_deleted_only_where_the_rig_allows_it(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    copied = script_copy("deletes_its_folders", tmp_path / "copies")
    assert run(copied, folder=work).stdout == b"deleted\n"
    assert (copied.parent.exists(), work.exists()) == (False, False)
    bare = Path(shutil.copy(script("deletes_its_folders"), tmp_path))
    assert run(bare, folder=tmp_path).returncode == 1
    assert bare.exists()


def test_a_script_overwrites_itself_only_where_the_rig_allows_it(tmp_path: Path) -> None:
    copied = script_copy("changes_its_script", tmp_path / "copies")
    before = copied.read_text()
    (copied.parent / MARKER).unlink()
    assert run(copied, folder=tmp_path).returncode == 1
    assert copied.read_text() == before


def test_odd_names_and_arguments_arrive_byte_by_byte(tmp_path: Path) -> None:
    seen = run(oddly_named_copy(tmp_path), os.fsdecode(b"\xff"), folder=tmp_path).stdout.splitlines()
    assert seen[0].endswith(b"/repro-\xff\xfe.py")
    assert seen[1] == b"\xff"


def test_only_the_first_check_is_well_formed(tmp_path: Path) -> None:
    run(script("malformed_checks"), folder=tmp_path)
    lines = (tmp_path / "checks").read_bytes().split(b"\n")
    assert json.loads(lines[0]) == {"check": "good", "ok": True}
    assert lines[1] == b"grad: failed"


def test_many_checks_end_with_one_that_failed(tmp_path: Path) -> None:
    run(script("many_checks"), "1000", folder=tmp_path)
    lines = (tmp_path / "checks").read_text().splitlines()
    assert (len(lines), json.loads(lines[-1])) == (1000, {"check": "check-999", "ok": False})


def test_left_files_are_where_it_says(tmp_path: Path) -> None:
    names = run(script("leaves_temporary_files"), folder=tmp_path).stdout.decode().split()
    assert [Path(name).parent for name in names] == [tmp_path, tmp_path]
    assert all(Path(name).read_bytes() == b"left behind" for name in names)


def test_a_stopped_script_stops_and_threads_do_not_end(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, script("stops_itself")], cwd=tmp_path) as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.kill()
    with subprocess.Popen([sys.executable, script("threads_never_end")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"main is done\n"
        assert process.poll() is None
        process.kill()
