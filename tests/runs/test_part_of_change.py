from __future__ import annotations

import pytest

from bisect_tool.reports.report import CrossTest
from bisect_tool.runs.part_of_change import BINARIES, CUDA, OTHERS, PACKAGE, PYTHON, TRITON, conclude, sentence


def crossed(**shown: tuple[str, str]) -> list[CrossTest]:
    """For each part: what the newer build shows with the older part, and the older one with the newer part."""
    names = {"triton": TRITON, "cuda": CUDA, "others": OTHERS, "python": PYTHON}
    return [
        CrossTest.model_validate({"base": base, "taken_from": other, "part": names[part], "shows": shows})
        for part, pair in shown.items()
        for base, other, shows in (("new", "old", pair[0]), ("old", "new", pair[1]))
    ]


@pytest.mark.parametrize(
    ("shown", "part"),
    [
        ({"triton": ("before", "after"), "python": ("after", "before")}, TRITON),
        ({"cuda": ("before", "after")}, CUDA),
        ({"python": ("before", "not judged"), "triton": ("after", "before")}, PYTHON),
        ({"python": ("not judged", "after")}, PYTHON),
        ({"python": ("after", "before"), "others": ("after", "before")}, BINARIES),
        ({"python": ("after", "not judged")}, BINARIES),
        # Both together make it, or one hides the other: no part can be named.
        ({"triton": ("before", "before"), "python": ("after", "before")}, None),
        ({"triton": ("before", "after"), "python": ("before", "after")}, None),
        ({"python": ("neither", "before")}, None),
        ({"python": ("not judged", "not judged")}, None),
        ({"python": ("not judged", "not judged"), "triton": ("after", "before")}, None),
    ],
)
def test_the_part_that_makes_the_change(shown: dict[str, tuple[str, str]], part: str | None) -> None:
    assert conclude(crossed(**shown), "new", has_python=True) == part


def test_a_package_without_binaries_is_what_is_left() -> None:
    assert conclude(crossed(others=("after", "before")), "new", has_python=False) == PACKAGE
    assert conclude([], "new", has_python=False) == PACKAGE


def test_the_sentence_names_the_other_packages() -> None:
    told = sentence(OTHERS, "torch", "2.14", "2.15", "main", {"sympy", "numpy"})
    assert told == "The change of main between 2.14 and 2.15 is made by another package: numpy, sympy."
    assert sentence(None, "torch", "2.14", "2.15", "main", ()).endswith("do not tell which part makes the change of main "
                                                                        "between 2.14 and 2.15.")  # fmt: skip
