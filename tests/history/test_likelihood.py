"""How likely each commit of a range is the culprit."""

from __future__ import annotations

import pytest

from bisect_tool.history.clues import Clues, collect_clues
from bisect_tool.history.likelihood import Traits, likelihoods, traits_among, weights_of
from bisect_tool.history.parts import Part
from tests.history.test_suspects import FRAMES, listed

OTHERS = [(f"Tidy number {number}", f"torch/tidy{number}.py") for number in range(60)]
NOTHING = Traits(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def by_title(found: dict[str, float], changes: list[tuple[str, str]]) -> dict[str, float]:
    """The weights by title; the hash of a commit of `listed` is its number."""
    return {title: found[f"{number:040x}"] for number, (title, _) in enumerate(changes)}


def weighed(changes: list[tuple[str, str]], clues: Clues) -> dict[str, float]:
    return by_title(likelihoods(listed(*changes), clues), changes)


def test_a_rare_word_says_much_and_a_common_one_next_to_nothing() -> None:
    common = [(f"Lower index number {number}", f"torch/a{number}.py") for number in range(60)]
    found = weighed([("Lower searchsorted", "torch/a.py"), *common], collect_clues(script="torch.searchsorted(index)"))
    assert found["Lower index number 7"] < 0.1


def test_no_commit_that_may_be_the_culprit_is_without_weight() -> None:
    found = weighed([("Lower searchsorted", "torch/a.py"), *OTHERS], collect_clues(script="torch.searchsorted(x)"))
    assert len(found) == 61
    assert min(found.values()) > 0
    assert max(found.values()) == found["Lower searchsorted"] == 1


def test_the_file_where_the_failure_came_up_counts_like_a_word_in_a_title() -> None:
    changes = [("Change order", "torch/_inductor/scheduler.py"), *OTHERS]
    found = weighed(changes, collect_clues(failure=FRAMES))
    assert found["Change order"] > 10 * found["Tidy number 1"]


def test_without_a_clue_larger_changes_are_likelier_and_documentation_is_not() -> None:
    changes = [
        ("Small", "torch/a.py"),
        ("Large", "torch/a.py torch/b.py torch/c.py torch/d.py"),
        ("Docs", "docs/a.rst"),
    ]
    found = weighed(changes, Clues())
    assert found["Large"] > found["Small"] > 2 * found["Docs"]


def test_what_cross_tests_exclude_has_no_weight() -> None:
    entries = listed(("Native", "aten/src/a.cpp"), ("Python", "torch/a.py"))
    assert list(likelihoods(entries, Clues(part=Part.NATIVE))) == [entries[0].sha]


def test_traits_are_rarities() -> None:
    """Four of 61 commits have the word: log(62 / 4.5). The other has it alone."""
    changes = [(f"Lower cumsum {number}", "torch/a.py") for number in range(4)] + [
        ("Lower cumprod", "x.py"),
        *OTHERS[:56],
    ]
    traits = traits_among(listed(*changes), collect_clues(script="cumsum cumprod"))
    found = {title: traits[f"{number:040x}"] for number, (title, _) in enumerate(changes)}
    assert found["Lower cumsum 1"].title == pytest.approx(2.623, abs=1e-3)
    assert found["Lower cumprod"].title == pytest.approx(3.722, abs=1e-3)
    assert found["Tidy number 1"].title == 0


def test_weights_are_exponentials_of_what_the_traits_add_up_to() -> None:
    terms = NOTHING._replace(title=1.0, inert=-2.0)
    found = weights_of({"a": NOTHING, "b": NOTHING._replace(title=0.5), "c": NOTHING._replace(inert=1.0)}, terms)
    assert found == pytest.approx({"a": 0.6065, "b": 1.0, "c": 0.0821}, abs=1e-4)


def test_nothing_overflows() -> None:
    assert weights_of({"a": NOTHING._replace(title=5000.0), "b": NOTHING}, NOTHING._replace(title=1.0)) == {
        "a": 1.0,
        "b": 0.0,
    }


def test_no_commits_no_weights() -> None:
    assert likelihoods((), Clues()) == {}
