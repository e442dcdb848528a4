from __future__ import annotations

from pathlib import Path

from tests.rig.killed_batches import killed_batches


def test_a_batch_that_is_killed_again_and_again_answers_the_same_and_repeats_next_to_nothing(tmp_path: Path) -> None:
    """Killed when its first, then when its third trial begins, each time after it has gone on from where it was."""
    with killed_batches(tmp_path) as batches:
        whole, killed = batches.place("whole"), batches.place("killed")
        assert batches.status(whole) == 0
        points = (1, 3)
        for point in points:
            assert batches.status(killed, die_at=point) == -9
            batches.check(killed)
        assert batches.status(killed) == 0
        assert batches.answers(killed) == batches.answers(whole)
        assert batches.stored(killed) == batches.stored(whole)
        assert batches.ran(whole) == batches.stored(whole) > 0
        assert 0 <= batches.ran(killed) - batches.stored(killed) <= len(points)
