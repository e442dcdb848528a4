"""What the tutorial shows is what the program says: of its report, of the spec of the corpus, of two real runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bisect_tool.reports.formats.terminal import render
from bisect_tool.reports.report import Report
from tests.test_writing_repros import BLOCK

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = tuple((found["says"] or "", found["text"]) for found in BLOCK.finditer(PAGE))


def told(word: str) -> list[tuple[str, str]]:
    """The blocks whose comment begins so, with what is behind it."""
    return [(says.removeprefix(f"{word} "), text) for says, text in BLOCKS if says.startswith(f"{word} ")]


def test_every_block_is_a_command_or_says_what_it_is() -> None:
    commands = [text for says, text in BLOCKS if not says]
    assert all(line.startswith("$ bisect ") for text in commands for line in text.splitlines())
    assert [len(told(word)) for word in ("from", "draft of", "answer of")] == [2, 1, 2]


@pytest.mark.parametrize(("place", "text"), told("from"))
def test_a_piece_stands_where_it_is_said_to(place: str, text: str) -> None:
    assert text in (ROOT / place).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "text"), told("answer of"))
def test_an_answer_is_that_of_the_run(name: str, text: str) -> None:
    shown = render(Report.model_validate(json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text("utf-8"))))
    assert text in shown


def test_the_draft_is_what_init_makes_of_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from bisect_tool.cli.init import command

    ((place, text),) = told("draft of")
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(command, [place, "--out", str(tmp_path / "integral")], standalone_mode=False)
    assert done.exception is None, done.output
    assert text in (tmp_path / "integral" / "spec.yaml").read_text(encoding="utf-8")
    assert re.search(r"^title: .*not evaluated", (tmp_path / "integral" / "spec.yaml").read_text("utf-8"), re.MULTILINE)
