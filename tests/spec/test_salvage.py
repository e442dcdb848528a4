from __future__ import annotations

from pathlib import Path

from bisect_tool.spec.salvage import without
from tests.spec.specs import mistakes


def test_only_the_wrong_keys_go() -> None:
    content = {"name": "a", "script": "x.py", "timeout": "soon", "to": "2"}
    assert without(content, [("timeout",)]) == {"name": "a", "script": "x.py", "to": "2"}
    assert content["timeout"] == "soon"


def test_what_a_spec_needs_is_put_in() -> None:
    assert without({"name": "a b", "command": [[]]}, [("name",), ("command", 0)]) == {
        "name": "unnamed",
        "script": "unnamed",
    }


def test_cases_keep_their_positions() -> None:
    cases = [{"name": "x", "role": "contol", "args": ["1"]}, "y", {"args": []}]
    assert without({"name": "a", "cases": cases}, [("cases", 0, "role"), ("cases", 1), ("cases", 2, "name")]) == {
        "name": "a",
        "cases": [{"name": "x", "args": ["1"]}, {"name": "unnamed-1"}, {"name": "unnamed-2", "args": []}],
    }


def test_mistakes_of_the_shape_do_not_hide_those_of_the_meaning(tmp_path: Path) -> None:
    text = (
        "name: a\n"
        "timeout: soon\n"
        "channel: comit\n"
        "requires: [numpy=1]\n"
        "cases:\n"
        "  - {name: x, role: contol}\n"
        "  - {name: x, env: {TMPDIR: y}}\n"
        "failures:\n"
        "  - {name: f, mach: g}\n"
        "  - {name: f, match: g}\n"
        "metrics:\n"
        "  - {name: t, ratio: fast}\n"
        "  - {name: t, ratio: 1}\n"
    )
    assert [one.split(": ")[0] for one in mistakes(tmp_path, text)] == [
        "line 1",  # neither script nor command
        "line 2, timeout",
        "line 3, channel",
        "line 4, requires[0]",
        "line 6, cases[0].role",
        "line 7, cases[1].name",
        "line 7, cases[1].env.TMPDIR",
        "line 9, failures[0].match",
        "line 9, failures[0].mach",
        "line 10, failures[1].name",
        "line 12, metrics[0].ratio",
        "line 13, metrics[1].ratio",
        "line 13, metrics[1].name",
    ]


def test_a_wrong_script_is_not_called_missing_too(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "name: a\nscript: [x]\n") == ["line 2, script: found a list, expected text"]
