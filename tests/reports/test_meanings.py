"""Every word of a report has a meaning."""

from __future__ import annotations

from typing import get_args

from bisect_tool.reports.meanings import KINDS, OUTCOMES, STATES
from bisect_tool.reports.report import Kind, Outcome, State


def test_every_word_is_explained_and_no_other() -> None:
    assert tuple(STATES) == get_args(State)
    assert tuple(KINDS) == get_args(Kind)
    assert tuple(OUTCOMES) == get_args(Outcome)
