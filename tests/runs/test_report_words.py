from __future__ import annotations

import pytest

from bisect_tool.runs.report_words import name_for
from bisect_tool.trials.failure import FoundFailure, Signature, SignatureKind


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Error: Option requires an argument.", "exit-Error-Option-requires-an-argument"),
        ("no torch.compile here...", "exit-no-torch.compile-here"),
        ("1: 2 3", "exit"),
    ],
)
def test_a_name_is_made_of_words_without_the_signs_around_them(message: str, name: str) -> None:
    assert name_for(FoundFailure("x", Signature(SignatureKind.EXIT, message), "")) == name
