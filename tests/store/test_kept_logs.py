from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bisect_tool.store.kept_logs import MOST_AT_ONCE, KeptLogs, LogUnread, Read, kept_logs
from bisect_tool.store.logs import SharedLogs


def why(logs: KeptLogs, folder: str = "trials/1") -> LogUnread:
    with pytest.raises(LogUnread) as raised:
        logs.read(folder, 100)
    return raised.value


def raising(error: Exception) -> KeptLogs:
    def open_(_address: str) -> Read:
        raise error

    return KeptLogs("s3://me:s3cret@logs/x?key=s3cret", open_)


def test_what_was_kept_is_read_up_to_a_bound(tmp_path: Path) -> None:
    folder = tmp_path / "trials" / "20260101-abc"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("it failed\n")
    address = f"memory://{tmp_path.name}/logs/"
    kept = SharedLogs(address, print).keep(folder)
    logs = KeptLogs(address)
    assert logs.has("trials/20260101-abc", kept)
    assert logs.read("trials/20260101-abc", 1000) == b"it failed\n"
    assert logs.read("trials/20260101-abc", 5) == b"it fa"
    assert why(logs, "trials/20260101-other").is_gone


def test_only_what_was_kept_there_is_its() -> None:
    logs = KeptLogs("s3://logs/x")
    assert logs.has("trials/1", "s3://logs/x/1/log.txt")
    for folder, kept in (
        ("trials/1", None),
        ("trials/1", "s3://logs/y/1/log.txt"),
        ("trials/1", "s3://logs/x/2/log.txt"),
        ("trials/1", "file:///etc/passwd"),
        ("trials/..", "s3://logs/x/../log.txt"),
        ("trials/.1", "s3://logs/x/.1/log.txt"),
        ("", "s3://logs/x//log.txt"),
    ):
        assert not logs.has(folder, kept)


def test_no_name_leads_out_of_the_place() -> None:
    assert why(KeptLogs("memory://logs"), "trials/..").why == "that is no name of a trial"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (FileNotFoundError("s3cret"), "it is not there any more"),
        (PermissionError("s3cret"), "the server may not read it"),
        (ImportError("s3cret"), "the server lacks a package for such addresses (`bisect-tool[logs]`)"),
        (ValueError("s3cret"), "reading it failed (ValueError)"),
    ],
)
def test_why_it_cannot_be_read_without_what_is_secret(error: Exception, told: str) -> None:
    found = why(raising(error))
    assert (found.why, found.where) == (told, "s3://logs/x/1/log.txt")
    assert "s3cret" not in str(found)
    assert found.is_gone is isinstance(error, FileNotFoundError)


def test_a_place_that_hangs_holds_up_only_so_many() -> None:
    free = threading.Event()

    def hangs(_path: str, _most: int) -> bytes:
        free.wait(60)
        return b""

    logs = KeptLogs("s3://logs", lambda _address: hangs, patience=0.0)
    assert {why(logs).why for _ in range(MOST_AT_ONCE)} == {"no answer within 0 s"}
    assert why(logs).why == "others wait for that place already, and it does not answer"
    free.set()


def test_what_was_read_makes_room_for_the_next() -> None:
    logs = KeptLogs("s3://logs", lambda _address: lambda _path, _most: b"read")
    assert {logs.read("trials/1", 9) for _ in range(2 * MOST_AT_ONCE)} == {b"read"}


def test_all_requests_share_what_counts_those_that_hang() -> None:
    assert kept_logs("s3://logs") is kept_logs("s3://logs")


def test_a_thread_that_cannot_be_started_takes_nobodys_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = KeptLogs(str(tmp_path), open_=lambda _address: lambda _name, _most: b"read")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        for _ in range(20):
            with pytest.raises(LogUnread, match="no further thread"):
                logs.read("20261130-0ae838e8ecfc", 100)
    assert logs.read("20261130-0ae838e8ecfc", 100) == b"read"


def no_thread(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
