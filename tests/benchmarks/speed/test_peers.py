from __future__ import annotations

import pytest

from tests.benchmarks.speed.peers import NoAnswer, count_steps, extend, plain_search, tool_search


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
