"""Whole runs among commits, as a user starts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.integration.conftest import Place, failing
from tests.integration.conftest import history as releases
from tests.rig.git_history.maker import GitHistory, Made
from tests.rig.toy_source import toy_source

ZERO = "RuntimeError: gradient is all zero"
BROKEN = {"main": ZERO}


def appeared(report: dict[str, Any]) -> dict[str, Any]:
    return dict(report["failures"][0]["episodes"][0]["appeared"])


def land(history: GitHistory, number: int, files: dict[str, str] | None = None) -> Made:
    return history.land(f"Change number {number}", {"notes.md": f"{number}\n", **(files or {})})


def test_the_commit_of_a_pure_python_package_is_found(place: Place, tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        commits = [land(history, 0, toy_source())]
        commits += [land(history, number) for number in range(1, 6)]
        commits.append(land(history, 6, toy_source(BROKEN)))
        commits += [land(history, number) for number in range(7, 10)]
    spec = place.spec(channel="commit", from_=commits[0].sha, to=commits[9].sha)
    report = place.answer("run", spec, "--repo", history.folder)
    assert appeared(report)["last_without"] == commits[5].sha[:12]
    assert appeared(report)["first_with"] == commits[6].sha[:12]
    assert report["outcome"] == "exact"
    assert report["counts"]["builds_considered"] == 10
    assert report["counts"]["builds_installed"] < 10
    boundary = report["boundaries"][0]
    assert (boundary["revision_before"], boundary["revision_after"]) == (commits[5].sha, commits[6].sha)
    assert f"{commits[6].sha[:12]} is: Change number 6 (#{commits[6].pull})" in report["advice"]


def test_a_commit_that_cannot_be_built_is_untestable(place: Place, tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        good = land(history, 0, toy_source())
        stuck = land(history, 1, toy_source(BROKEN, breaks="error: no compiler for this"))
        bad = land(history, 2, toy_source(BROKEN))
    report = place.answer("run", place.spec(channel="commit"), "--repo", history.folder, status=3)
    end = appeared(report)
    assert (end["last_without"], end["first_with"]) == (good.sha[:12], bad.sha[:12])
    assert end["holes"] == [
        {
            "build": stuck.sha[:12],
            "reason": "cannot be built: error: no compiler for this",
            "tried": True,
            "thin": False,
        }
    ]


def test_a_merge_is_followed_inside(place: Place, tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        first = land(history, 0, toy_source())
        history.branch("work")
        inner = [
            history.write("Inner one\n", {"a.md": "1"}, branch="work"),
            history.write("Inner two\n", toy_source(BROKEN), branch="work"),
            history.write("Inner three\n", {"a.md": "3"}, branch="work"),
        ]
        land(history, 1)
        merge = history.write("Merge work\n", {**toy_source(BROKEN), "a.md": "3"}, merged=[inner[-1].sha])
        last = land(history, 2)
    report = place.answer("run", place.spec(channel="commit", from_=first.sha, to=last.sha), "--repo", history.folder)
    assert (appeared(report)["last_without"], appeared(report)["first_with"]) == (inner[0].sha[:12], inner[1].sha[:12])
    (stage,) = report["stages"]
    assert merge.sha[:12] in stage["summary"][0]


def test_a_change_that_only_the_merge_makes_is_said_to_be_the_merge(place: Place, tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        land(history, 0, toy_source())
        history.branch("work")
        inner = history.write("Inner one\n", {"a.md": "1"}, branch="work")
        before = land(history, 1)
        merge = history.write("Merge work\n", {**toy_source(BROKEN), "a.md": "1"}, merged=[inner.sha])
    report = place.answer("run", place.spec(channel="commit"), "--repo", history.folder)
    assert (appeared(report)["last_without"], appeared(report)["first_with"]) == (before.sha[:12], merge.sha[:12])
    assert any("it comes from the merge" in text for text in report["advice"])


def test_releases_first_then_the_commits_between(place: Place, tmp_path: Path) -> None:

    with GitHistory(tmp_path / "toy.git") as history:
        land(history, 0, toy_source())
        history.tag("v1.0")
        commits = [land(history, number) for number in range(1, 4)]
        commits.append(land(history, 4, toy_source(BROKEN)))
        history.tag("v1.1")
    place.publish(releases(3, failing([1, 2])))
    spec = place.spec(channel=["release", "commit"], from_="1.0", to="1.2", source="example/toy")
    report = place.answer("run", spec, "--repo", history.folder)
    assert (appeared(report)["last_without"], appeared(report)["first_with"]) == (
        commits[2].sha[:12],
        commits[3].sha[:12],
    )
    assert [stage["channel"] for stage in report["stages"]] == ["release"]


def test_without_a_repository_the_coarser_answer_stands(place: Place) -> None:

    place.publish(releases(3, failing([2])))
    report = place.answer("run", place.spec(channel=["release", "commit"], from_="1.0", to="1.2"))
    assert (appeared(report)["last_without"], appeared(report)["first_with"]) == ("1.1", "1.2")
    assert any(text.startswith("the commits were not searched: it is not known where toy") for text in report["advice"])
