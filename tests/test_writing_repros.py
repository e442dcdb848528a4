"""The code of `docs/writing-repros.md` and `docs/failures/` is run, or is a piece of a real spec, or of a real report.

A comment above a block says which: `ends with 1`, with its checks behind; `from FILE`; `answer of SPEC`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bisect_tool.reports.formats.terminal import render
from bisect_tool.reports.report import Report
from bisect_tool.trials.checks_file import read_checks

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "docs" / "writing-repros.md", *sorted((ROOT / "docs" / "failures").glob("*.md")))
KINDS = {"crash", "exception", "flaky", "hang", "memory", "slow", "warning", "wrong-gradient", "wrong-result"}
BLOCK = re.compile(r"(?:^<!-- (?P<says>[^\n]*) -->\n)?^```\w*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: str
    says: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.says or 'nothing said'}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for found in BLOCK.finditer(page.read_text()):
            yield Block(page.stem, found["says"] or "", found["text"])


BLOCKS = tuple(blocks())
RUN = tuple(block for block in BLOCKS if block.says.startswith("ends with "))
TAKEN = tuple(block for block in BLOCKS if block.says.startswith("from "))
ANSWERS = tuple(block for block in BLOCKS if block.says.startswith("answer of "))


def test_every_kind_has_a_page_with_a_spec_and_an_answer_and_every_block_says_what_it_is() -> None:
    assert {page.stem for page in PAGES} == {"writing-repros", *KINDS}
    assert {block.page for block in TAKEN} >= KINDS
    assert {block.page for block in ANSWERS} >= KINDS - {"flaky"}
    assert len(RUN) + len(TAKEN) + len(ANSWERS) == len(BLOCKS)


@pytest.mark.parametrize("block", RUN, ids=str)
def test_a_script_ends_as_the_page_says(block: Block, tmp_path: Path) -> None:
    checks = tmp_path / "checks.jsonl"
    environ = {**os.environ, "BISECT_CHECKS": str(checks)}
    ran = subprocess.run([sys.executable, "-c", block.text], env=environ, capture_output=True, check=False)
    status, _, told = block.says.removeprefix("ends with ").partition(", checks: ")
    found = ", ".join(f"{check.name} {'ok' if check.ok else 'failed'}" for check in read_checks(checks)[0])
    assert (ran.returncode, found) == (int(status), told), ran.stderr


@pytest.mark.parametrize("block", TAKEN, ids=str)
def test_a_piece_of_a_spec_is_as_it_stands_there(block: Block) -> None:
    assert block.text in (ROOT / block.says.removeprefix("from ")).read_text()


@pytest.mark.parametrize("block", ANSWERS, ids=str)
def test_a_piece_of_an_answer_is_as_the_report_has_it(block: Block) -> None:
    path = ROOT / "docs" / "results" / f"{block.says.removeprefix('answer of ')}.json"
    shown = render(Report.model_validate(json.loads(path.read_text())))
    for piece in block.text.split("[…]\n"):
        assert piece in shown, piece


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
