from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SettingError
from bisect_tool.store.logs import REST, SharedLogs


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    folder = tmp_path / "trials" / "20260101-abc"
    (folder / "work").mkdir(parents=True)
    (folder / "log.txt").write_text("it failed\n")
    (folder / "command").write_text("python repro.py\n")
    return folder


def test_a_folder_that_is_made_where_needed(tmp_path: Path, trial: Path) -> None:
    told: list[str] = []
    address = SharedLogs(str(tmp_path / "deep" / "logs"), told.append).keep(trial)
    assert address == str(tmp_path / "deep/logs/20260101-abc/log.txt")
    assert Path(address).read_text() == "it failed\n"
    assert sorted(path.name for path in Path(address).parent.iterdir()) == ["command", "log.txt"]
    assert [path.name for path in Path(address).parent.parent.iterdir()] == ["20260101-abc"]
    assert told == []


def test_an_address_of_fsspec(trial: Path) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    assert SharedLogs("memory://logs/of/us/", print).keep(trial) == "memory://logs/of/us/20260101-abc/log.txt"
    assert MemoryFileSystem().cat("/logs/of/us/20260101-abc/log.txt") == b"it failed\n"


def test_a_place_that_is_gone_is_told_once_and_tried_again_later(tmp_path: Path, trial: Path) -> None:
    told: list[str] = []
    clock, place = Clock(), tmp_path / "logs"
    place.write_text("a file in its place")
    logs = SharedLogs(str(place), told.append, clock)
    assert [logs.keep(trial), logs.keep(trial)] == [None, None]
    assert told == [
        f"logs cannot be copied to {place}: Not a directory; those of this run are in the cache until that works again"
    ]
    place.unlink()
    assert logs.keep(trial) is None
    clock.now = REST
    assert logs.keep(trial) == f"{place}/20260101-abc/log.txt"


def test_a_secret_in_the_address_is_in_no_link_and_no_warning(trial: Path) -> None:
    told: list[str] = []
    logs = SharedLogs("memory://me:s3cret@logs/x?key=s3cret", told.append)
    address = logs.keep(trial)
    assert address == "memory://logs/x/20260101-abc/log.txt"

    def fails(_folder: Path) -> None:
        raise ValueError("no such place: memory://me:s3cret@logs/x?key=s3cret")

    logs._copy = fails
    assert logs.keep(trial) is None
    assert len(told) == 1
    assert "s3cret" not in told[0]


def test_a_kind_of_address_that_nobody_knows() -> None:
    with pytest.raises(SettingError, match="cannot be kept there") as raised:
        SharedLogs("nosuch://me:s3cret@logs/x", print)
    assert "s3cret" not in str(raised.value)
