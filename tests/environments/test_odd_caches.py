"""Caches that crashes, other versions, full and read-only file systems leave behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_tool.environments import locks, room
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import MARK
from bisect_tool.environments.verify import verify
from bisect_tool.errors import CacheNotWritable, DiskFull
from tests.environments.conftest import Bench
from tests.rig.wheel_maker import make_wheel


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_nothing_that_is_taken_for_ready(bench: Bench) -> None:
    make_wheel(bench.index.folder, "large", "1.0", modules={"large.py": "#" + "x" * 8_000_000 + "\n"})
    key = bench.key(bench.build("large"))
    with small_disk(bench.root / "small", "4m") as disk:
        bench.cache = open_cache(disk / "cache")
        with pytest.raises(DiskFull) as raised:
            bench.make(key)
        assert "bisect cache prune" in raised.value.advice
        assert not bench.environments().is_ready(key)
        assert list(bench.cache.environments.iterdir()) == []
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert not bench.make(key).cached


def test_a_file_system_that_became_read_only(bench: Bench) -> None:
    key = bench.key(bench.build())
    with small_disk(bench.root / "small", "32m") as disk:
        bench.cache = open_cache(disk / "cache")
        bench.make(key)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(CacheNotWritable):
            open_cache(disk / "cache")
        with pytest.raises(CacheNotWritable):
            bench.make(replace(key, requires=("helper",)))


def test_a_lock_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(CacheNotWritable, match="Is a directory"), locks.shared(tmp_path / "lock"):
        pass


@pytest.mark.parametrize("mark", ["", "[]", "null", '{"key": 7}', '{"health": {"cpu": {}}}', '{"health": []}'])
def test_a_mark_that_says_nothing_is_passed_over(bench: Bench, mark: str) -> None:
    folder = bench.cache.environments / "odd"
    folder.mkdir()
    (folder / MARK).write_text(mark)
    environment = bench.make(bench.key(bench.build()))
    assert [one.folder for one in room.occupants(bench.cache)] == [environment.folder]
    assert verify(bench.cache) == []


def test_an_empty_line_in_a_record(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    (record,) = environment.folder.glob("venv/lib/python*/site-packages/toy-1.0.dist-info/RECORD")
    record.write_text(record.read_text() + "\n")
    assert verify(bench.cache) == []
