from __future__ import annotations

import pytest

from bisect_tool.runs.executors.cluster.work import LEAST, is_spoilt
from bisect_tool.trials.observation import Observation, Raised

SPOILT = Observation(1, chain=(Raised("OSError", "[Errno 28] No space left on device"),))


@pytest.mark.parametrize(
    ("observation", "free", "spoilt"),
    [
        (SPOILT, LEAST - 1, True),
        (SPOILT, LEAST, False),  # there is room once its folder is gone: the repro filled the disk, or only says so
        (Observation(1, chain=(Raised("RuntimeError", "gradient is all zero"),)), 0, False),
        (Observation(0), 0, False),
    ],
)
def test_a_trial_is_spoilt_where_no_room_is_left_after_it(observation: Observation, free: int, *, spoilt: bool) -> None:
    assert is_spoilt(observation, free) is spoilt
