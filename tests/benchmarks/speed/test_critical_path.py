from __future__ import annotations

import pytest

from tests.benchmarks.speed.critical_path import Piece, critical_path, pieces_of


def test_one_build_is_its_own_chain() -> None:
    assert critical_path([Piece(download=4, prepare=1, run=2)]) == 7


def test_short_downloads_hide_behind_trials() -> None:
    assert critical_path([Piece(1, 0, 4)] * 8) == 1 + 8 * 4


def test_short_trials_hide_behind_downloads() -> None:
    assert critical_path([Piece(4, 0, 1)] * 8) == 8 * 4 + 1


def test_preparing_goes_on_beside_the_next_download() -> None:
    # Ready at 2 + 3 and 4 + 3; trials from 5 to 6 and from 7 to 8.
    assert critical_path([Piece(2, 3, 1)] * 2) == 8


def test_a_long_download_in_the_middle_holds_up_what_follows() -> None:
    assert critical_path([Piece(1, 0, 1), Piece(9, 0, 1), Piece(1, 0, 1)]) == 12


def test_trials_that_verify_come_last() -> None:
    one = Piece(1, 0, 2)
    assert pieces_of(2, 5, one) == (Piece(1, 0, 2), Piece(1, 0, 8))
    assert critical_path(pieces_of(2, 5, one)) == 1 + 5 * 2


@pytest.mark.parametrize(("builds", "trials"), [(0, 0), (3, 2)])
def test_fewer_trials_than_builds_have_no_path(builds: int, trials: int) -> None:
    with pytest.raises(ValueError, match="no path"):
        pieces_of(builds, trials, Piece(1, 1, 1))
