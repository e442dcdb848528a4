from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.sessions import bisect
from tests.rig import github as rig
from tests.rig.git_history import GitHistory

REPORT = """`take_along_dim` crashes

```python
import torch
print(torch.compile(lambda x: x.take_along_dim(x.argsort(0), 0))(torch.rand(4)))
```

RuntimeError: no lowering

torch: 2.9.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "take.md").write_text(REPORT)
    return tmp_path


def test_a_report_becomes_a_folder_that_check_accepts(folder: Path) -> None:
    done = bisect(folder, "init", "take.md")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (folder / "take").iterdir()) == ["report.py", "repro.py", "spec.yaml"]
    assert done.stdout.endswith("next: read take/spec.yaml, then `bisect try take` and `bisect run take`\n")
    assert bisect(folder, "check", "--no-plan", "take").stdout == "take/spec.yaml: no mistakes\n"


def test_a_folder_that_is_there_stays_as_it_is(folder: Path) -> None:
    (folder / "take").mkdir()
    (folder / "take" / "spec.yaml").write_text("mine")
    done = bisect(folder, "init", "take.md")
    assert done.returncode == 28
    assert done.stderr.startswith("bisect: the folder is there already, nothing was written\n  where: take\n")
    assert [path.name for path in (folder / "take").iterdir()] == ["spec.yaml"]
    assert (folder / "take" / "spec.yaml").read_text() == "mine"


def test_force_replaces_the_files_of_the_draft_and_no_others(folder: Path) -> None:
    (folder / "take").mkdir()
    (folder / "take" / "notes.txt").write_text("mine")
    (folder / "elsewhere").write_text("not ours")
    (folder / "take" / "spec.yaml").symlink_to(folder / "elsewhere")
    assert bisect(folder, "init", "take.md", "--force").returncode == 0
    assert (folder / "take" / "notes.txt").read_text() == "mine"
    assert (folder / "elsewhere").read_text() == "not ours"
    assert (folder / "take" / "spec.yaml").read_text().startswith("# Drafted by `bisect init`.")


def test_without_code_nothing_is_written(folder: Path) -> None:
    (folder / "none.md").write_text("It crashes. Please help.")
    done = bisect(folder, "init", "none.md", "--out", "made")
    assert done.returncode == 10
    assert done.stderr == (
        "bisect: no code in this report can be run as a script\n"
        "  next:  put a complete script that fails into the report, between ``` fences, or give the script itself: "
        "`bisect init repro.py`\n"
    )
    assert not (folder / "made").exists()


def test_a_folder_cannot_be_made_over_a_file(folder: Path) -> None:
    done = bisect(folder, "init", "take.md", "--out", "take.md", "--force")
    assert (done.returncode, "this is a file" in done.stderr) == (28, True)


def test_an_issue_is_read_from_github(folder: Path) -> None:
    with GitHistory(folder / "r") as made:
        made.land("Start", {"a": "1"})
    with rig.serve(folder / "r") as github:
        github.issues["7"] = {
            "title": "A crash",
            "body": REPORT.replace("\n", "\r\n"),
            "created_at": "2025-11-01T00:00:00Z",
        }
        done = bisect(folder, "init", "https://github.com/pytorch/pytorch/issues/7", BISECT_GITHUB_API=github.url)
    assert (done.returncode, done.stderr) == (0, "")
    spec = (folder / "pytorch-7" / "spec.yaml").read_text()
    assert 'issue: "https://github.com/pytorch/pytorch/issues/7"\n' in spec
    assert 'title: "A crash"\n' in spec
    assert 'from: "2.7"' in spec


def test_an_issue_that_is_not_there_is_told(folder: Path) -> None:
    with GitHistory(folder / "r") as made:
        made.land("Start", {"a": "1"})
    with rig.serve(folder / "r") as github:
        done = bisect(folder, "init", "pytorch/pytorch#9", "--github-api", github.url)
    assert done.returncode == 10
    assert "GitHub has no such issue that can be read: Not Found" in done.stderr
