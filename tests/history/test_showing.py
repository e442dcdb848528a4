from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.history.showing import shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch/_inductor/lowering.py", "torch/_inductor/lowering.py"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("safe\u202efdp.exe", "safe\\u202efdp.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("bytes\udcff\udc80", "bytes\\xff\\x80"),
        ("lone\ud800", "lone\\ud800"),
        ("Björn 测试 😀", "Björn 测试 😀"),
        ("line\u2028end\x85", "line\\u2028end\\x85"),
        ("<b>*x*</b> `y` |", "<b>*x*</b> `y` |"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("", ""),
    ],
)
def test_what_is_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_long_text_is_cut() -> None:
    assert shown("x" * 1000) == "x" * 299 + "…"
    assert shown("x" * 10, 10) == "x" * 10
    assert shown("\n" * 10, 10) == "\\n\\n\\n\\n\\" + "…"


@given(st.text(max_size=400))
def test_nothing_acts_on_a_terminal(text: str) -> None:
    safe = shown(text)
    assert len(safe) <= 300
    assert len(safe.splitlines()) <= 1
    assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in safe)
    assert not any(
        character in "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for character in safe
    )
    safe.encode("utf-8")
