"""Errors of CUDA that are noticed late, as a script prints them that has no GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rig.direct_runs import direct_runs, ends

SCRIPT = """import torch
import os

def launch():
    if WAITS and {while_waiting}: raise RuntimeError({words})

def copy_back():
    raise RuntimeError({words})

WAITS = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
if int(torch.__version__.partition(".")[2]) >= 2:
    launch()
    if not WAITS: copy_back()
"""
ILLEGAL = "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported"


@pytest.mark.parametrize(
    ("words", "while_waiting", "told"),
    [(ILLEGAL, "True", "with CUDA_LAUNCH_BLOCKING=1 on 1.2 it really happens in repro.py:launch (trials/"),
     (ILLEGAL, "False", "with CUDA_LAUNCH_BLOCKING=1 on 1.2 it does not fail: its timing matters (trials/"),
     ("shapes differ", "True", None)],
)  # fmt: skip
def test_one_more_trial_says_where_it_happens(tmp_path: Path, words: str, while_waiting: str, told: str | None) -> None:
    with direct_runs(tmp_path, 3) as runs:
        report = runs.search(SCRIPT.format(words=repr(words), while_waiting=while_waiting))
        assert ends(report) == [("1.1", "1.2", "exact")]
        notes = [note for note in report.advice if "CUDA_LAUNCH_BLOCKING" in note]
        assert [told in note for note in notes] == [True] if told else notes == []
        assert len(runs.trials()) - report.counts.trials == len(notes)  # evidence is no trial that counts
