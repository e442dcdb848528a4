"""What a trial printed does nothing to whoever reads it."""

from __future__ import annotations

import pytest

from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault
from bisect_tool.trials.judge import judge
from bisect_tool.trials.observation import Check, Observation, Raised
from bisect_tool.trials.visible import visible

TITLE = "\x1b]0;owned\x07"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain \u00e4 \u4e2d\tx\ny", "plain \u00e4 \u4e2d\tx\ny"),
        ("a\r\nb", "a\r\nb"),
        ("all well\rlost", "all well\\rlost"),
        (TITLE, "\\x1b]0;owned\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202eb\u2066c\u200bd", "a\\u202eb\\u2066c\\u200bd"),
        ("\U000e0041", "\\U000e0041"),
        ("\0", "\\x00"),
    ],
)
def test_what_acts_is_shown(given: str, shown: str) -> None:
    assert visible(given) == shown


def test_failures_and_reasons_are_visible() -> None:
    raised = judge(Observation(1, chain=(Raised("ValueError", TITLE, "raised"),), output=f"ValueError: {TITLE}\n"), ())
    check = judge(Observation(0, checks=(Check("grad", ok=False, message=TITLE),)), ())
    for verdict in (raised, check):
        assert isinstance(verdict, Failed)
        assert "\x1b" not in verdict.failures[0].text + verdict.failures[0].signature.title
    reason = judge(Observation(125, output=f"{TITLE}\n"), ())
    assert isinstance(reason, CannotJudge)
    assert "\x1b" not in reason.reason
    fault = judge(Observation(1, output=f"{TITLE} No space left on device\n"), ())
    assert isinstance(fault, MachineAtFault)
    assert "\x1b" not in fault.reason
