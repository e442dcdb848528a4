from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import EnvironmentKey, Environments
from bisect_tool.environments.uv import Uv
from bisect_tool.runs.readiness import UNSURE, Readiness

ROW = tuple(f"{number:016x}" for number in range(5))


class Folders(Environments):
    """An environment is ready when its folder has a file called `ready`; counts how often it is asked."""

    asked: list[str] = []  # noqa: RUF012  one for all, emptied by each test

    def is_ready(self, key: EnvironmentKey) -> bool:
        self.asked.append(str(key))
        return (self.cache.environments / f"toy-{key}" / "ready").exists()


@pytest.fixture
def readiness(tmp_path: Path) -> Readiness:
    cache = open_cache(tmp_path / "cache")
    Folders.asked.clear()
    return Readiness(Folders(cache, Uv(Path("/uv"), cache.uv, {}), {}), clock=lambda: 10**20)


def make(readiness: Readiness, number: int, *, ready: bool = True) -> None:
    folder = readiness.environments.cache.environments / f"toy-{ROW[number]}"
    folder.mkdir(exist_ok=True)
    if ready:
        (folder / "ready").touch()


def of(readiness: Readiness) -> frozenset[int]:
    return readiness.of(ROW, lambda number: ROW[number])  # type: ignore[arg-type,return-value]  # the key is only handed on


def test_only_those_whose_folder_is_there_are_looked_at_and_only_once(readiness: Readiness) -> None:
    make(readiness, 1)
    make(readiness, 3)
    first = of(readiness)
    assert first == {1, 3}
    assert of(readiness) is first
    assert Folders.asked == [ROW[1], ROW[3]]


def test_what_is_being_made_is_seen_when_it_is_ready(readiness: Readiness) -> None:
    make(readiness, 2, ready=False)
    assert of(readiness) == frozenset()
    make(readiness, 2)
    assert of(readiness) == {2}


def test_a_new_folder_and_one_that_is_gone_are_noticed(readiness: Readiness) -> None:
    make(readiness, 0)
    assert of(readiness) == {0}
    make(readiness, 4)
    assert of(readiness) == {0, 4}
    folder = readiness.environments.cache.environments / f"toy-{ROW[0]}"
    (folder / "ready").unlink()
    folder.rmdir()
    assert of(readiness) == {4}


def test_a_folder_that_has_just_changed_is_looked_at_again(readiness: Readiness) -> None:
    make(readiness, 0)
    stamp = readiness.environments.cache.environments.stat().st_mtime_ns
    readiness.clock = lambda: stamp + UNSURE
    of(readiness)
    of(readiness)
    assert Folders.asked == [ROW[0], ROW[0]]
