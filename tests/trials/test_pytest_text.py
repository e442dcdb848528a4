from __future__ import annotations

from bisect_tool.trials.observation import Raised
from bisect_tool.trials.pytest_text import parse_pytest
from bisect_tool.trials.traceback_text import parse

PYTEST = """\
============================= test session starts ==============================
=================================== FAILURES ===================================
__________________________________ test_scan ___________________________________

    def test_scan():
>       scan(3)

test_scan.py:8:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def scan(n):
>       raise RuntimeError("no scan\\nof three")
E       RuntimeError: no scan
E       of three

test_scan.py:4: RuntimeError
----------------------------- Captured stderr call -----------------------------
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 'handled'
=========================== short test summary info ============================
FAILED test_scan.py::test_scan - RuntimeError: no scan
"""


def test_pytest_in_its_long_style() -> None:
    frames = (("test_scan.py", "test_scan"), ("test_scan.py", "scan"))
    assert parse(PYTEST) == (Raised("RuntimeError", "no scan\nof three", "raised", frames),)


def test_pytest_in_its_short_style_with_a_cause() -> None:
    text = """\
=================================== FAILURES ===================================
__________________________________ test_scan ___________________________________
test_scan.py:4: in load
    return {}["a"]
E   KeyError: 'a'

The above exception was the direct cause of the following exception:
test_scan.py:8: in test_scan
    load()
E   torch.Error: no model
=========================== short test summary info ============================
"""
    assert parse(text) == (
        Raised("torch.Error", "no model", "raised", (("test_scan.py", "test_scan"),)),
        Raised("KeyError", "'a'", "cause", (("test_scan.py", "load"),)),
    )


def test_a_bare_assertion_under_pytest() -> None:
    text = PYTEST.replace("RuntimeError: no scan\nE       of three", "assert 3 == 4").replace(
        "4: Runtime", "4: Assertion"
    )
    assert [(raised.type, raised.message) for raised in parse(text)] == [("AssertionError", "assert 3 == 4")]


def test_other_output_is_not_from_pytest() -> None:
    assert parse_pytest("E   RuntimeError: x\ntest_scan.py:4: RuntimeError\n") == ()
