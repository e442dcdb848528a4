from __future__ import annotations

import pytest

from bisect_tool.runs.estimate import usual_seconds


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        (100_000, 1.0),  # click: 0.3 s were measured with two busy cores
        (35_000_000, 2.2),  # SciPy: 1 to 2 s
        (550_000_000, 15.0),  # torch
        (None, 15.0),
    ],
)
def test_a_trial_is_guessed_by_how_much_there_is_to_import(size: int | None, seconds: float) -> None:
    assert usual_seconds(size) == pytest.approx(seconds, abs=0.1)
