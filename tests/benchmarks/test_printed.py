from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.printed import Printed, tables_of


def test_tables_are_read_from_what_was_printed() -> None:
    lines = ["2 cores", "| slots | wall |", "|---|---|", "| 1 | 3 s |", "| 2 | 2 s |", "", "| a |", "|---|", "| b |"]
    assert list(tables_of(lines)) == [
        {"headings": ["slots", "wall"], "rows": [["1", "3 s"], ["2", "2 s"]]},
        {"headings": ["a"], "rows": [["b"]]},
    ]


def test_the_file_has_what_was_printed_so_far(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = Printed("slots", tmp_path / "out.json")
    printed.say("| slots |\n|---|")
    printed.say("| 1 |")
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["benchmark"], found["tables"]) == ("slots", [{"headings": ["slots"], "rows": [["1"]]}])
    assert capsys.readouterr().out == "| slots |\n|---|\n| 1 |\n"
