"""A cheap part of the corpus, run for real: wheels of click from the index, 0.1 s a trial."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.keep import REPORTS, ROOT
from tests.corpus.test_recorded import answer_of

CHEAP = ("click-flag-value-type", "click-flag-value-multiple", "click-optional-value")


@pytest.mark.network
def test_the_answers_are_those_that_were_kept(tmp_path: Path) -> None:
    """One run for all of click, which shares the builds; the history is not asked."""
    specs = [str(ROOT / "repro_specs" / name) for name in CHEAP]
    folder = tmp_path / "answers"
    words = [
        sys.executable,
        "-m",
        "bisect_tool",
        "run",
        *specs,
        "--json",
        str(folder),
        "--cache",
        str(tmp_path / "cache"),
    ]
    own = {key: value for key, value in os.environ.items() if not key.startswith("BISECT_")}
    environ = {**own, "BISECT_GITHUB_API": "http://127.0.0.1:9"}
    ran = subprocess.run([*words, "--quiet"], env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    for name in CHEAP:
        made, kept = (json.loads((place / f"{name}.json").read_text()) for place in (folder, REPORTS))
        assert answer_of(made) == answer_of(kept)
        assert made["counts"]["trials"] > 0
