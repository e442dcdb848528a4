from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _tool() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "tools" / "corpus_table.py"
    spec = importlib.util.spec_from_file_location("corpus_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
OPEN = {"kind": "open", "last_without": None, "first_with": "1.0", "last_with": "2.0", "first_without": None}


def report(older: str, newer: str, kind: str = "exact") -> dict[str, Any]:
    """A failure of the case `main` that was fixed between two builds."""
    fixed = {"kind": kind, "last_with": older, "first_without": newer}
    return {"failures": [{"case": "main", "name": "leak", "episodes": [{"appeared": OPEN, "fixed": fixed}]}]}


def known(older: str = "1.9", newer: str = "1.11", **more: str) -> dict[str, Any]:
    return {"changes": [{"case": "main", "fixed": [older, newer], **more}]}


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (("1.9", "1.10"), "exact"),
        (("1.10", "1.11"), "exact"),
        (("1.9", "1.11", "narrowed"), "narrowed"),
        (("1.8", "1.12", "narrowed"), "narrowed"),
        (("1.8", "1.9"), "wrong"),
        (("1.11", "1.12", "narrowed"), "wrong"),
    ],
)
def test_an_answer_is_held_against_what_is_known(ends: tuple[str, ...], expected: str) -> None:
    assert TOOL.verdict(known(), report(*ends)) == expected


def test_a_change_of_another_failure_or_case_is_wrong() -> None:
    assert TOOL.verdict(known(failure="crash"), report("1.9", "1.10")) == "wrong"
    assert TOOL.verdict({"changes": [{"case": "other", "fixed": ["1.9", "1.11"]}]}, report("1.9", "1.10")) == "wrong"


def test_a_change_that_is_not_known_and_one_that_is_missing_are_wrong() -> None:
    assert TOOL.verdict({"changes": []}, report("1.9", "1.10")) == "wrong"
    assert TOOL.verdict(known(), {"failures": []}) == "wrong"


def test_where_nothing_shows_it_no_change_is_right() -> None:
    assert TOOL.verdict({"none": "only nightlies had it"}, {"failures": []}) == "no change, as known"
    assert TOOL.verdict({"none": "only nightlies had it"}, report("1.9", "1.10")) == "wrong"


def test_the_page_is_current_and_nothing_in_it_is_wrong() -> None:
    """`python tools/corpus_table.py` makes it again."""
    text = TOOL.page()
    assert TOOL.PAGE.read_text() == text
    assert "| wrong |" not in text
