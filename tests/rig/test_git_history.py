from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from tests.rig.git_history import GitHistory, run_git
from tests.rig.git_history.typical import make_typical


def lines(folder: Path, *words: str) -> list[str]:
    return run_git(*words, at=folder).splitlines()


def test_the_repository_is_whole(tmp_path: Path) -> None:
    make_typical(tmp_path / "r", days=14)
    assert run_git("fsck", "--strict", at=tmp_path / "r") == ""


def test_the_same_arguments_give_the_same_hashes(tmp_path: Path) -> None:
    one, two, other = (
        make_typical(tmp_path / name, days=3, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one.commits == two.commits
    assert one.nightlies == two.nightlies
    assert one.commits != other.commits


def test_a_nightly_has_one_parent_the_tree_of_main_and_its_hash(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        made = history.land("Change", {"torch/a.py": "1"})
        first = history.nightly(date(2026, 3, 2))
        second = history.nightly(date(2026, 3, 3))
    form = "--format=%P|%T|%s|%ci"
    tree = lines(tmp_path / "r", "log", "-1", "--format=%T", made.sha)[0]
    assert lines(tmp_path / "r", "log", form, "nightly") == [
        f"{first.sha}|{tree}|2026-03-03 nightly release ({made.sha})|2026-03-03 07:30:00 +0000",
        f"|{tree}|2026-03-02 nightly release ({made.sha})|2026-03-02 07:30:00 +0000",
    ]
    assert second.sha == lines(tmp_path / "r", "rev-parse", "nightly")[0]


def test_a_revert_brings_back_the_content_and_a_reland_the_change(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.land("Old", {"torch/a.py": "old"})
        made = history.land("New", {"torch/a.py": "new", "torch/b.py": "added"}, pull=77)
        back = history.revert(made)
        again = history.reland(made)

    def content(sha: str) -> list[str]:
        return [
            run_git("show", f"{sha}:{path}", at=tmp_path / "r")
            for path in lines(tmp_path / "r", "ls-tree", "-r", "--name-only", sha)
        ]

    assert content(back.sha) == ["old"]
    assert content(again.sha) == ["new", "added"]
    assert lines(tmp_path / "r", "log", "-3", "--format=%s") == [
        "Reland New (#1003)",
        'Revert "New (#77)"',
        "New (#77)",
    ]
    assert f"This reverts commit {made.sha}." in run_git("log", "-1", "--format=%b", back.sha, at=tmp_path / "r")


def test_a_series_names_those_below(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        one, two, three = history.stack(["a", "b", "c"], [{"x": "1"}, {"x": "2"}, {"x": "3"}])
    body = run_git("log", "-1", "--format=%b", three.sha, at=tmp_path / "r")
    assert f"ghstack dependencies: #{one.pull}, #{two.pull}" in body


def test_what_a_typical_history_has(tmp_path: Path) -> None:
    made = make_typical(tmp_path / "r")
    mains = [nightly.main for nightly in made.nightlies]
    days = [nightly.day for nightly in made.nightlies]
    assert len(mains) - len(set(mains)) >= 3  # a stall
    assert len(days) - len(set(days)) == 1  # cut twice
    assert date(2026, 3, 8) not in days  # not cut
    assert made.pairs
    assert made.relands
    assert made.series
    main = set(lines(made.folder, "rev-list", "main"))
    assert set(mains) <= main
    assert made.tags["v2.99.1"] not in main
    assert made.commits[0].when == datetime(2026, 3, 2, 0, 35, tzinfo=UTC)


def test_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.rig.git_history", str(tmp_path / "r"), "--days", "4", "--per-day", "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    told = json.loads(done.stdout)
    assert len(told["nightlies"]) == 4
    assert lines(tmp_path / "r", "rev-parse", "nightly") == [told["nightlies"][-1]["nightly"]]
