"""A folder for each question that is being answered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.locks import exclusive
from bisect_tool.service import private_folders
from bisect_tool.service.private_folders import private_folder, remove_abandoned


def test_it_is_there_as_long_as_it_is_used(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path)
    with private_folder(cache) as own:
        remove_abandoned(cache)
        (own / "spec.yaml").write_text("name: x")
    assert list((tmp_path / "questions").iterdir()) == []


def test_one_that_was_taken_for_abandoned_before_it_was_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[Path] = []

    @contextmanager
    def late(path: Path) -> Iterator[None]:
        with exclusive(path):
            if not removed:  # as another worker does that starts at the same moment
                removed.append(path.parent)
                shutil.rmtree(path.parent)
            yield

    monkeypatch.setattr(private_folders, "exclusive", late)
    with private_folder(CacheFolder(tmp_path)) as own:
        assert (own.parent / "lock").exists()
        assert own.parent != removed[0]
    assert list((tmp_path / "questions").iterdir()) == []
