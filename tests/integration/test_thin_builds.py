"""From nightlies to the commit: Python files of commits over the binaries of the nightly after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place
from tests.rig.git_history.maker import GitHistory, Made
from tests.rig.nightly_index import Change, Cut, NightlyIndex, NightlyPlan

ZERO = "RuntimeError: gradient is all zero"
FIRST = date(2026, 8, 3)
DAY = timedelta(days=1)
SCRIPT = "import torch\nfrom torch import lowering\ntorch.run('main')\nlowering.run()\n"
GOOD = {"torch/lowering.py": "def run():\n    return 1\n"}
BAD = {"torch/lowering.py": "def run():\n    raise RuntimeError('gradient is all zero')\n"}
NATIVE = {"aten/src/ATen/native/ReduceOps.cpp": "int changed;\n"}


@dataclass(slots=True)
class Story:
    """Commits of main, a nightly after each group of them; the wheels of a night have the Python files of its commit."""

    folder: Path
    commits: list[Made] = field(default_factory=list)
    cuts: dict[date, Cut] = field(default_factory=dict)
    files: dict[date, Mapping[str, str]] = field(default_factory=dict)


def tell(folder: Path, nights: Sequence[Sequence[Mapping[str, str | None]]]) -> Story:
    story, tree = Story(folder), {**GOOD}
    with GitHistory(folder) as history:
        history.land("Begin", {**GOOD, "torch/__init__.pyi": "", "aten/x.cpp": ""})
        for number, night in enumerate(nights):
            day = FIRST + DAY * number
            for files in night:
                story.commits.append(history.land(f"Change number {len(story.commits)}", files))
                tree |= {name: text for name, text in files.items() if text is not None}
                tree = {name: text for name, text in tree.items() if files.get(name, "") is not None}
            made = history.nightly(day)
            story.cuts[day] = Cut(made.sha, made.main)
            story.files[day] = {name: text for name, text in tree.items() if name.startswith("torch/")}
    return story


@pytest.fixture
def ask(place: Place) -> Iterator[Any]:
    indexes: list[NightlyIndex] = []

    def asked(story: Story, *changes: Change, status: int = 0, script: str = SCRIPT) -> dict[str, Any]:
        plan = NightlyPlan(
            first=FIRST, last=max(story.cuts), cuts=story.cuts, files=story.files, bare=True, changes=changes
        )
        index = NightlyIndex(plan)
        indexes.append(index)
        index.__enter__()
        index.today = max(story.cuts)
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
        spec = place.spec(package="torch", channel=["nightly", "commit"], script=script, variant="cpu")
        return place.answer("run", spec, "--repo", story.folder, "--verify", "0", status=status)

    yield asked
    for index in indexes:
        index.__exit__(None, None, None)


def appeared(report: dict[str, Any]) -> dict[str, Any]:
    return dict(report["failures"][0]["episodes"][0]["appeared"])


def test_a_commit_of_python_files_is_found(ask: Any, tmp_path: Path) -> None:
    other = {"torch/other.py": "x = 1\n"}
    story = tell(tmp_path / "pytorch.git", [[{"README.md": "1"}], [other, NATIVE, BAD, {"torch/other.py": None}]])
    report = ask(story)
    named, before = story.commits[3], story.commits[1]
    assert report["channel"] == "commit"
    assert (appeared(report)["last_without"], appeared(report)["first_with"]) == (before.sha[:12], named.sha[:12])
    assert report["outcome"] == "exact"
    assert f"{named.sha[:12]} is: {named.title} (#{named.pull})" in report["advice"]
    assert any("1 of 5 commits change no Python file" in note for note in report["range"]["notes"])
    (stage,) = report["stages"]
    assert stage["channel"] == "nightly"


def test_a_commit_of_both_parts_is_marked(ask: Any, tmp_path: Path) -> None:
    story = tell(tmp_path / "pytorch.git", [[{"README.md": "1"}], [{"torch/other.py": "x = 1\n"}, BAD | NATIVE]])
    report = ask(story)
    named = story.commits[2]
    assert appeared(report)["first_with"] == named.sha[:12]
    assert any(text.startswith(f"{named.sha[:12]} touches binaries as well") for text in report["advice"])


def test_a_change_of_binaries_is_told_as_such(ask: Any, tmp_path: Path) -> None:
    story = tell(tmp_path / "pytorch.git", [[{"README.md": "1"}], [{"torch/other.py": "x = 1\n"}, NATIVE]])
    report = ask(story, Change("main", FIRST + DAY, ZERO))
    native = story.commits[2]
    assert (report["channel"], [stage["channel"] for stage in report["stages"]]) == ("nightly", ["commit"])
    assert appeared(report)["first_with"] == f"2.14.0.dev{FIRST + DAY:%Y%m%d}+cpu"
    (told,) = [text for text in report["advice"] if "not in Python" in text]
    assert f"{native.sha[:12]} {native.title} (#{native.pull})" in told


def test_python_that_needs_what_the_binaries_lack_is_no_failure(ask: Any, tmp_path: Path) -> None:
    needs = {"torch/lowering.py": "from torch.version import gone_from_the_binaries\n"}
    story = tell(tmp_path / "pytorch.git", [[{"README.md": "1"}], [needs, BAD]])
    report = ask(story, status=3)
    holes = appeared(report)["holes"]
    assert [hole["build"] for hole in holes] == [story.commits[1].sha[:12]]
    assert holes[0]["reason"].startswith("overlay not valid here: ")
    assert appeared(report)["first_with"] == story.commits[2].sha[:12]
