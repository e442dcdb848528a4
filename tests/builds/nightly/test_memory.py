from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bisect_tool.builds.nightly.memory import FileFacts, Memory, Remembered
from bisect_tool.errors import CacheBroken, CacheNotWritable

NOW = datetime(2026, 10, 9, 12, tzinfo=UTC)
THERE = FileFacts(there=True, size=900, modified=datetime(2026, 3, 3, 10, 11, 12, tzinfo=UTC), etag='"abc"')
ABSENT = FileFacts(there=False)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MOMENT = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("facts", "age", "lasting"),
    [
        (THERE, 0, DAY),
        (THERE, 13, DAY),
        (THERE, 14, 30 * DAY),
        (THERE, 900, 30 * DAY),
        (ABSENT, 0, HOUR),
        (ABSENT, 2, HOUR),
        (ABSENT, 3, DAY),
        (ABSENT, 29, DAY),
        (ABSENT, 30, 7 * DAY),
        (ABSENT, 900, 7 * DAY),
    ],
)
def test_how_long_an_answer_counts(facts: FileFacts, age: int, lasting: timedelta) -> None:
    nightly = NOW.date() - timedelta(days=age)
    assert Remembered(facts, NOW - lasting + MOMENT).is_fresh(nightly, NOW)
    assert not Remembered(facts, NOW - lasting).is_fresh(nightly, NOW)


def test_an_answer_of_the_future_does_not_count() -> None:
    assert not Remembered(THERE, NOW + HOUR).is_fresh(date(2026, 3, 3), NOW)


def test_fingerprints() -> None:
    assert THERE.fingerprint == "modified:2026-03-03T10:11:12Z"
    assert FileFacts(there=True, etag='"abc"').fingerprint == 'etag:"abc"'
    assert FileFacts(there=True, size=3).fingerprint is None


def test_it_outlives_the_process(tmp_path: Path) -> None:
    Memory(tmp_path / "pages").keep({"a": THERE, "b": ABSENT}, NOW)
    Memory(tmp_path / "pages").keep({"b": THERE}, NOW + HOUR)
    assert Memory(tmp_path / "pages").of(["a", "b", "c"]) == {
        "a": Remembered(THERE, NOW),
        "b": Remembered(THERE, NOW + HOUR),
    }


def test_two_processes_at_once(tmp_path: Path) -> None:
    first, second = Memory(tmp_path), Memory(tmp_path)
    first.keep({"a": THERE}, NOW)
    second.keep({"b": ABSENT}, NOW)
    first.keep_inside("a", "f", "one")
    second.keep_inside("b", "f", "two")
    fresh = Memory(tmp_path)
    assert set(fresh.of(["a", "b"])) == {"a", "b"}
    assert (fresh.inside("a", "f"), fresh.inside("b", "f"), fresh.inside("a", "g")) == ("one", "two", None)


def test_without_a_folder_it_lasts_as_long_as_the_process() -> None:
    memory = Memory(None)
    memory.keep({"a": THERE}, NOW)
    memory.keep_inside("a", "f", "one")
    assert memory.of(["a"]) == {"a": Remembered(THERE, NOW)}
    assert memory.inside("a", "f") == "one"


def test_a_file_that_is_no_database_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "nightly-files.sqlite"
    file.write_bytes(b"nonsense" * 1000)
    with pytest.raises(CacheBroken, match="it has been removed"):
        Memory(tmp_path).of(["a"])
    assert not file.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheNotWritable, match="answers of the index"):
        Memory(tmp_path / "file" / "pages").keep({"a": THERE}, NOW)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "nightly-files.sqlite").mkdir()
    with pytest.raises(CacheNotWritable):
        Memory(tmp_path).of(["a"])


def test_a_file_that_another_process_holds_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bisect_tool.builds.nightly import memory

    Memory(tmp_path).keep({"a": THERE}, NOW)
    monkeypatch.setattr(memory, "PATIENCE", 0.1)
    holder = sqlite3.connect(tmp_path / "nightly-files.sqlite")
    try:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CacheNotWritable, match="locked"):
            Memory(tmp_path).keep({"b": THERE}, NOW)
    finally:
        holder.close()
