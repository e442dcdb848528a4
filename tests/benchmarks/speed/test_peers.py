from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.speed.peers import (
    Enough,
    NoAnswer,
    Place,
    Steps,
    count_steps,
    extend,
    plain_search,
    tool_search,
    uv_per_step,
)


class Tool:
    """What stands for the module of `bisect-find-first-bad`: looks from left to right."""

    class BisectFindFirstBad:
        def __init__(self, options: range) -> None:
            self.options = options

        def is_bad(self, number: int) -> bool:
            raise NotImplementedError

        def __call__(self) -> int:
            print("one after the other")
            return next(number for number in self.options if self.is_bad(number))


@pytest.mark.parametrize("first_bad", [1, 31, 32, 41, 63])
def test_the_plain_search_finds_what_was_planted(first_bad: int) -> None:
    assert plain_search(64, lambda number: number >= first_bad) == first_bad


def test_the_plain_search_looks_at_both_ends_and_halves() -> None:
    assert count_steps(plain_search, 64, 41) == 2 + 6


def test_ends_that_do_not_differ_have_no_answer() -> None:
    with pytest.raises(NoAnswer, match="oldest"):
        plain_search(64, lambda _number: True)
    with pytest.raises(NoAnswer, match="newest"):
        plain_search(64, lambda _number: False)


def test_the_tool_is_asked_after_both_ends_and_kept_silent(capsys: pytest.CaptureFixture[str]) -> None:
    search = tool_search(Tool)
    assert search(8, lambda number: number >= 3) == 3
    assert count_steps(search, 8, 3) == 2 + 3
    assert capsys.readouterr().out == ""


def test_steps_that_were_not_done_are_like_those_after_the_first() -> None:
    assert extend([10, 4, 6], 8) == 10 + 4 + 6 + 5 * 5
    assert extend([10, 4, 6], 3) == 20
    with pytest.raises(ValueError, match="one step"):
        extend([10], 8)


def test_a_repro_that_fails_on_a_good_nightly_is_no_right_step(tmp_path: Path) -> None:
    steps = Steps(Place(tmp_path, {}, "", tmp_path / "repro.py", 0), uv_per_step, (), most=2)
    steps.bad = {0: False, 63: True}
    assert steps.is_right(41)
    steps.bad = {0: True}
    assert not steps.is_right(41)


def test_a_step_too_many_is_not_done(tmp_path: Path) -> None:
    steps = Steps(Place(tmp_path, {}, "", tmp_path / "repro.py", 0), uv_per_step, (), most=0)
    with pytest.raises(Enough):
        steps.is_bad(0)
