"""400 nightlies over HTTP with everything that goes wrong there, many times: `python -m tests.benchmarks.nightlies` has 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rig.hard_search import search_hard


@pytest.mark.parametrize("seed", range(12))
def test_the_planted_change_is_found(tmp_path: Path, seed: int) -> None:
    done = search_hard(seed, tmp_path)
    assert done.found == done.planted
