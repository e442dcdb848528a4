"""What `bisect cache` says of wheels that are on their way."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.sessions import bisect


def begun(folder: Path, name: str, here: int, size: int, content: bytes) -> Path:
    """A wheel of which `here` of `size` bytes are in the cache of `folder`."""
    wheels = folder / "cache" / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    note = {"format": 1, "package": "torch", "version": name, "filename": f"torch-{name}-py3-none-any.whl"}
    note |= {"size": size, "validator": '"1"', "here": [[0, here]]}
    (wheels / f"{name}.json").write_text(json.dumps(note))
    (wheels / f"{name}.part").write_bytes(content)
    return wheels


def test_begun_wheels_are_listed_and_pruned(tmp_path: Path) -> None:
    wheels = begun(tmp_path, "2.0", 3_000_000, 900_000_000, b"x" * 3_000_000)
    listed = bisect(tmp_path, "cache", "list", "--cache", "cache").stdout.splitlines()
    (line,) = [line.split() for line in listed if "torch" in line]
    assert line == ["torch", "2.0", "3.0", "MB", "wheel,", "3.0", "MB", "of", "900", "MB"]
    assert bisect(tmp_path, "cache", "prune", "--all", "--cache", "cache").returncode == 0
    assert list(wheels.iterdir()) == []


def test_a_whole_wheel_that_is_damaged_is_removed(tmp_path: Path) -> None:
    wheels = begun(tmp_path, "2.1", 9, 9, b"no wheel!")
    begun(tmp_path, "2.2", 4, 900, b"part")
    done = bisect(tmp_path, "cache", "verify", "--cache", "cache")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "removed the damaged wheel of torch 2.1")
    assert sorted(path.name for path in wheels.iterdir()) == ["2.2.json", "2.2.part"]
