"""A folder with a spec and its script, for the tests of reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.spec.reading import ReadSpec, load_all

CHANNELS = ("commit", "nightly", "release", "wheelhouse")
GOOD = "name: a\nscript: repro.py\n"


def write_spec(folder: Path, text: str | bytes, *, script: str | None = "pass\n", name: str = "spec.yaml") -> Path:
    """Write a spec and its `repro.py`."""
    if script is not None:
        (folder / "repro.py").write_text(script)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_one(folder: Path, text: str | bytes) -> ReadSpec:
    """The spec of a text that has no mistakes."""
    (found,) = load_all([write_spec(folder, text)], channels=CHANNELS)
    return found


def refusal(*paths: Path) -> SpecError:
    """The error that reading `paths` raises."""
    with pytest.raises(SpecError) as caught:
        load_all(paths, channels=CHANNELS)
    return caught.value


def mistakes(folder: Path, text: str | bytes, *, script: str | None = "pass\n") -> list[str]:
    """The mistakes of a text, one line each, as the user sees them."""
    head, *lines = refusal(write_spec(folder, text, script=script)).what.splitlines()
    assert head == f"{folder / 'spec.yaml'}: {len(lines)} {'mistake' if len(lines) == 1 else 'mistakes'}"
    return [line.strip() for line in lines]
