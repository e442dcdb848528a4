from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import Answered, SpecsUnanswered
from bisect_tool.reports.batch.counts import counts_of
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.runs.batch.folder import ResultsFolder
from bisect_tool.runs.batch.merging import merge
from bisect_tool.runs.batch.outcome import last_line, status_of
from tests.reports import samples
from tests.reports.batch.lines import ENDED, line


def folder(path: Path, *lines: SpecLine) -> Path:
    path.mkdir()
    ResultsFolder(path, title="a shard", lines={one.name: one for one in lines}).rewrite()
    return path


def test_two_specs_of_one_name_are_both_told_of(tmp_path: Path) -> None:
    one = line("x", samples.exact())
    other = one.model_copy(update={"digest": "0123456789abcdef"})
    merged = merge([folder(tmp_path / "a", one), folder(tmp_path / "b", other)], tmp_path / "out")
    assert [found.name for found in merged] == ["x", "x-01234567"]


def test_the_same_spec_of_two_shards_counts_once(tmp_path: Path) -> None:
    one = line("x", samples.exact())
    assert len(merge([folder(tmp_path / "a", one), folder(tmp_path / "b", one)], tmp_path / "out")) == 1


def test_a_spec_that_was_not_finished_has_no_answer(tmp_path: Path) -> None:
    waiting = SpecLine(name="waits", path="waits.yaml", status="unfinished", ended=ENDED)
    counts = counts_of([line("x", samples.exact()), waiting])
    assert last_line(counts, tmp_path) == f"2 specs: 1 exact, 1 unfinished; see {tmp_path / 'index.html'}"
    with pytest.raises(SpecsUnanswered, match="1 of 2 specs have no answer"):
        status_of(counts, tmp_path)
    assert status_of(counts_of([line("x", samples.exact())]), tmp_path) is Answered.EXACT
