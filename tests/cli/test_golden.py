from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.sessions import GOLDEN, names, transcript


@pytest.mark.parametrize("name", names())
def test_a_session(tmp_path: Path, name: str) -> None:
    assert transcript(name, tmp_path) == (GOLDEN / f"{name}.out").read_text()


def test_every_output_has_its_words() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.out")) == names()
