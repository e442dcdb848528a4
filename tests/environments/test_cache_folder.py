from __future__ import annotations

import errno
import json
import tempfile
from pathlib import Path

import pytest

from bisect_tool.environments.cache_folder import MARK, cannot_write, copies_because, open_cache
from bisect_tool.errors import CacheNotWritable, CacheTooNew, DiskFull


def test_it_is_made_with_its_places(tmp_path: Path) -> None:
    cache = open_cache(tmp_path / "new" / "cache")
    assert sorted(path.name for path in cache.root.iterdir()) == [
        MARK, "environments", "locks", "pages", "trials", "uv",
    ]  # fmt: skip
    assert json.loads((cache.root / MARK).read_text()) == {"format": 1, "made by": "bisect"}


def test_it_is_opened_again_as_it_is(tmp_path: Path) -> None:
    first = open_cache(tmp_path)
    (first.trials / "log").touch()
    assert open_cache(tmp_path) == first
    assert (first.trials / "log").exists()


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_cache(Path("cache")).root == tmp_path / "cache"


def test_a_cache_of_a_newer_version(tmp_path: Path) -> None:
    open_cache(tmp_path)
    (tmp_path / MARK).write_text('{"format": 2}')
    with pytest.raises(CacheTooNew, match="format 2, this version knows formats up to 1"):
        open_cache(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"form": 1}', '{"format": "x"}', "null", '{"format": null}'])
def test_a_mark_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    (tmp_path / MARK).write_text(text)
    with pytest.raises(CacheNotWritable, match="not certain that the folder is a cache"):
        open_cache(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [MARK]


def test_a_mark_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / MARK).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CacheNotWritable):
        open_cache(tmp_path)


@pytest.mark.parametrize("place", ["cache", "cache/environments", "cache/bisect-cache.json"])
def test_something_else_lies_there(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if place.endswith("json") else path.write_text("x")
    with pytest.raises(CacheNotWritable) as raised:
        open_cache(tmp_path / "cache")
    assert raised.value.where == str(path)
    assert "--cache" in raised.value.advice


def test_a_file_system_that_cannot_be_written() -> None:
    with pytest.raises(CacheNotWritable, match="cannot be written"):
        open_cache(Path("/proc/bisect"))


def test_a_full_disk_and_a_quota_are_told_from_missing_permission(tmp_path: Path) -> None:
    assert isinstance(cannot_write(OSError(errno.ENOSPC, "full"), tmp_path), DiskFull)
    assert isinstance(cannot_write(OSError(errno.EDQUOT, "quota"), tmp_path), DiskFull)
    assert isinstance(cannot_write(OSError(errno.EACCES, "denied"), tmp_path), CacheNotWritable)


def test_environments_are_links_here(tmp_path: Path) -> None:
    assert copies_because(open_cache(tmp_path / "cache"), {}) is None


def test_copies_on_request_are_told(tmp_path: Path) -> None:
    cache = open_cache(tmp_path / "cache")
    assert copies_because(cache, {"UV_LINK_MODE": "copy"}) == (
        "UV_LINK_MODE is copy: each environment takes as much room and time as its wheels unpacked"
    )


def test_a_cache_of_uv_on_another_file_system_is_told(tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    cache = open_cache(tmp_path / "cache")
    cache.uv.rmdir()
    with tempfile.TemporaryDirectory(dir=other) as folder:
        cache.uv.symlink_to(folder)
        why = copies_because(cache, {})
        assert list(Path(folder).iterdir()) == []
    assert why is not None
    assert "are on two file systems" in why
