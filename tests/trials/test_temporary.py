"""Temporary folders outside of the cache go with whoever made them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bisect_tool.trials.temporary import PREFIX, SETTLED, held_folder, own_prefix


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> Path:
    then = time.time() - 2 * SETTLED
    os.utime(folder, (then, then), follow_symlinks=False)
    return folder


def abandoned(place: Path, name: str) -> Path:
    folder = place / name
    (folder / "left").mkdir(parents=True)
    (folder / "left" / "file").write_text("x")
    return aged(folder)


def test_it_is_there_and_then_it_is_gone(place: Path) -> None:
    with held_folder() as folder:
        assert folder.parent == place
        (folder / "file").write_text("x")
    assert list(place.iterdir()) == []


def test_what_nobody_holds_is_removed_and_nothing_else(place: Path) -> None:
    gone = abandoned(place, f"{own_prefix()}gone")
    others = abandoned(place, "bisect-of-somebody")
    elsewhere = abandoned(place, f"{PREFIX}000000-of-another-host")
    young = place / f"{own_prefix()}young"
    young.mkdir()
    link = place / f"{own_prefix()}link"
    link.symlink_to(others)
    aged(link)
    with held_folder() as held:
        aged(held)
        with held_folder():
            assert held.is_dir()
    assert not gone.exists()
    assert (others / "left" / "file").read_text() == "x"
    assert young.is_dir()
    assert elsewhere.is_dir()
    assert link.is_symlink()


def test_the_folder_of_a_killed_process_is_removed_by_the_next(place: Path) -> None:
    program = (
        "import sys, tempfile\nfrom bisect_tool.trials.temporary import held_folder\n"
        "tempfile.tempdir = sys.argv[1]\nwith held_folder() as folder:\n    print(folder, flush=True)\n    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = aged(Path(process.stdout.readline().strip()))
        with held_folder():
            assert left.is_dir()
        process.kill()
    assert left.is_dir()
    with held_folder():
        assert not left.exists()
