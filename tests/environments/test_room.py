from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from bisect_tool.environments import locks, marks, room
from bisect_tool.environments.environment import MARK, Environment
from bisect_tool.errors import DiskFull
from tests.environments.conftest import Bench
from tests.rig.toy import ToyBuild
from tests.rig.wheel_maker import make_wheel

MEGABYTE = 1_000_000


def heavy(bench: Bench, name: str, *, last_used: float) -> Environment:
    """An environment of a package of its own that weighs a megabyte, used so many seconds ago."""
    make_wheel(bench.index.folder, name, "1.0", modules={f"{name}.py": "#" + "x" * MEGABYTE + "\n"})
    environment = bench.make(bench.key(bench.build(name)))
    os.utime(environment.folder / marks.USED, (time.time() - last_used,) * 2)
    return environment


def names(bench: Bench) -> list[str]:
    return [occupant.package for occupant in room.occupants(bench.cache)]


def test_the_one_that_was_not_used_for_longest_goes_first(bench: Bench) -> None:
    for name, last_used in (("middle", 200), ("oldest", 300), ("newest", 100)):
        heavy(bench, name, last_used=last_used)
    assert names(bench) == ["oldest", "middle", "newest"]
    before = room.size_of(bench.cache.root)
    gone = room.make_room(bench.cache, bench.uv, before - MEGABYTE // 2)
    assert [one.package for one in gone] == ["oldest"]
    assert names(bench) == ["middle", "newest"]
    # Its file was in the environment and in uv's cache: both links are gone.
    assert room.size_of(bench.cache.root) <= before - MEGABYTE


def test_a_use_makes_it_the_newest(bench: Bench) -> None:
    for name, last_used in (("first", 200), ("second", 100)):
        heavy(bench, name, last_used=last_used)
    bench.make(bench.key(bench.build("first")))
    assert names(bench) == ["second", "first"]


def test_nothing_goes_while_there_is_room(bench: Bench) -> None:
    heavy(bench, "only", last_used=0)
    assert room.make_room(bench.cache, bench.uv, 100 * MEGABYTE) == []
    assert room.make_room(bench.cache, bench.uv, 100 * MEGABYTE, needed=90 * MEGABYTE) == []
    assert names(bench) == ["only"]


def test_what_is_needed_counts(bench: Bench) -> None:
    heavy(bench, "only", last_used=0)
    limit = room.size_of(bench.cache.root) + MEGABYTE
    assert [one.package for one in room.make_room(bench.cache, bench.uv, limit, needed=2 * MEGABYTE)] == ["only"]


def test_what_is_in_use_stays(bench: Bench) -> None:
    used, idle = heavy(bench, "used", last_used=300), heavy(bench, "idle", last_used=100)
    limit = room.size_of(bench.cache.root) - MEGABYTE // 2
    with bench.use(bench.key(bench.build("used"))):
        os.utime(used.folder / marks.USED, (0, 0))
        assert [one.package for one in room.make_room(bench.cache, bench.uv, limit)] == ["idle"]
    assert used.folder.exists()
    assert not idle.folder.exists()


def test_when_everything_left_is_in_use_the_limit_cannot_be_kept(bench: Bench) -> None:
    environment = heavy(bench, "used", last_used=0)
    with (
        bench.use(bench.key(bench.build("used"))),
        pytest.raises(DiskFull, match="everything left in it is in use") as raised,
    ):
        room.make_room(bench.cache, bench.uv, MEGABYTE // 2)
    assert "--max-cache" in raised.value.advice
    assert environment.folder.exists()


def test_making_an_environment_keeps_the_limit(bench: Bench) -> None:
    heavy(bench, "old", last_used=100)
    limit = 4 * MEGABYTE  # a new one is taken to need three times the size of its wheel
    make_wheel(bench.index.folder, "new", "1.0", modules={"new.py": "#" + "y" * MEGABYTE + "\n"})
    key = bench.key(bench.build("new"))
    with bench.environments(limit).use(
        key, lambda: bench.channel.installation(key.build), device="cpu", as_of=None
    ) as environment:
        assert environment.folder.exists()
    assert names(bench) == ["new"]
    assert room.size_of(bench.cache.root) <= limit


def test_a_folder_without_our_mark_is_never_removed(bench: Bench) -> None:
    mine = bench.cache.environments / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x" * MEGABYTE)
    with pytest.raises(DiskFull):
        room.make_room(bench.cache, bench.uv, MEGABYTE // 2)
    assert (mine / "thesis.txt").exists()
    assert room.occupants(bench.cache) == []


def test_a_link_is_never_followed(bench: Bench, tmp_path: Path) -> None:
    """Also when what it points to looks like an environment."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / MARK).write_text(json.dumps({"format": 1, "state": "ready", "key": {}}))
    (elsewhere / "thesis.txt").write_text("x" * MEGABYTE)
    (bench.cache.environments / "link").symlink_to(elsewhere)
    assert room.size_of(bench.cache.environments) < MEGABYTE
    heavy(bench, "own", last_used=0)
    room.make_room(bench.cache, bench.uv, room.size_of(bench.cache.root) - MEGABYTE // 2)
    for occupant in room.occupants(bench.cache):
        room.remove_unused(bench.cache, occupant)
    assert (elsewhere / "thesis.txt").exists()
    assert (elsewhere / MARK).exists()


def test_only_the_one_who_holds_the_lock_can_remove(bench: Bench) -> None:
    environment = heavy(bench, "only", last_used=0)
    (occupant,) = room.occupants(bench.cache)
    with locks.shared(bench.cache.locks / f"{environment.folder.name}.lock"):
        assert not room.remove_unused(bench.cache, occupant)
        assert environment.folder.exists()
    assert room.remove_unused(bench.cache, occupant)
    assert not environment.folder.exists()


def test_a_removal_that_was_interrupted_is_taken_up_again(bench: Bench) -> None:
    environment = heavy(bench, "half", last_used=0)
    (environment.folder / "venv" / "pyvenv.cfg").unlink()
    (occupant,) = room.occupants(bench.cache)
    assert room.remove_unused(bench.cache, occupant)
    assert room.occupants(bench.cache) == []


def test_a_wheel_that_another_environment_has_is_not_forgotten(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0"))
    first = bench.make(bench.key(bench.build(), requires=("helper",)))
    bench.make(bench.key(bench.build(version="1.1"), requires=("helper",)))
    gone = [one for one in room.occupants(bench.cache) if one.folder == first.folder]
    assert room.remove_unused(bench.cache, gone[0])
    room.forget_wheels(bench.cache, bench.uv, gone)
    assert list(bench.cache.uv.rglob("helper/runtime.py"))
    assert not list(bench.cache.uv.rglob("toy/runtime.py"))


def test_what_an_occupant_says(bench: Bench) -> None:
    environment = heavy(bench, "only", last_used=1000)
    (occupant,) = room.occupants(bench.cache)
    assert (occupant.folder, occupant.package, occupant.version, occupant.state) == (
        environment.folder, "only", "1.0", "ready",
    )  # fmt: skip
    assert MEGABYTE < occupant.bytes_ < 5 * MEGABYTE
    assert abs(time.time() - 1000 - occupant.used.timestamp()) < 5
    assert occupant.packages == (("only", "1.0"),)


def test_a_file_with_several_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * MEGABYTE)
    alone = room.size_of(tmp_path)
    (tmp_path / "again").hardlink_to(tmp_path / "file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "file")
    assert alone <= room.size_of(tmp_path) < alone + 10_000
    assert room.size_of(tmp_path / "missing") == 0
