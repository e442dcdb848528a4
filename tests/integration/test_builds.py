"""``bisect builds``, as a user starts it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from tests.integration.conftest import Place, failing, history
from tests.rig.git_history.typical import make_typical
from tests.rig.nightly_index import Cut, NightlyIndex, NightlyPlan


def test_the_builds_of_a_spec_with_what_is_known(place: Place) -> None:
    place.publish(history(4, failing([2, 3]), yanked={1: "broken"}))
    spec = place.spec(cases=[{"name": "main", "args": ["main"]}])
    place.answer("run", spec)
    printed = place.run("builds", spec).out.splitlines()
    assert printed[0].endswith("3 builds, 1 versions or dates without one")
    rows = [line.split() for line in printed[2:7]]
    assert rows[0] == ["date", "version", "where", "size", "here", "main"]
    assert rows[1][:3] == ["2026-01-01", "1.0", "listed"]
    assert rows[1][-2:] == ["yes", "✓"]
    assert rows[2] == ["2026-01-02", "1.1", "yanked", "(broken)"]
    assert "x RuntimeError: gradient is all zero" in printed[5]


def test_one_build_is_enough_to_list(place: Place) -> None:
    place.publish(history(3, {}))
    ran = place.run("builds", "--package", "toy", "--from", "1.1", "--to", "1.1")
    assert (ran.status, ran.out.splitlines()[-1].split()[:2]) == (0, ["2026-01-02", "1.1"])


def test_a_mistake_names_the_flag(place: Place) -> None:
    ran = place.run("builds", "--variant", "cuda12")
    assert ran.status == 10
    assert '--variant: found "cuda12"' in ran.err
    assert "bisect check" not in ran.err


@pytest.fixture
def nightly_place(place: Place, tmp_path: Path) -> tuple[Place, Path, NightlyPlan]:
    git = make_typical(tmp_path / "pytorch.git", days=21)
    cuts = {made.day: Cut(made.sha, made.main) for made in git.nightlies}
    return place, git.folder, NightlyPlan(first=min(cuts), last=max(cuts), cuts=cuts, bare=True)


def test_nightlies_with_their_commits(nightly_place: tuple[Place, Path, NightlyPlan]) -> None:
    place, repo, plan = nightly_place
    with NightlyIndex(plan) as index:
        index.today = date(2026, 8, 1)
        place.extra["BISECT_NIGHTLY_INDEX"] = index.address
        words = (
            "--channel",
            "nightly",
            "--device",
            "cpu",
            "--from",
            "2026-03-03",
            "--to",
            "2026-03-20",
            "--repo",
            repo,
        )
        plain = json.loads(place.run("builds", *words, "--json", "-").out)["rows"]
        before = sum(index.requests.counts().values())
        with_commits = json.loads(place.run("builds", *words, "--json", "-", "--commits").out)["rows"]
        asked = sum(index.requests.counts().values()) - before
    assert {row["status"] for row in plain} == {"listed", "left out"}
    by_date = {row["version"]: row["commit"] for row in plain}
    by_wheel = {row["version"]: row["commit"] for row in with_commits}
    assert by_date == by_wheel
    assert plan.cuts is not None
    assert by_date["2.12.0.dev20260303+cpu"] == plan.cuts[date(2026, 3, 3)].main
    assert {row["commit_from"] for row in with_commits if row["commit"]} == {"wheel"}
    left_out = [(row["version"], row["because"]) for row in plain if row["status"] == "left out"]
    assert ("2.12.0.dev20260308+cpu", "missing") in left_out
    assert [version for version, because in left_out if because.startswith("the same commit")] == [
        f"2.12.0.dev202603{day}+cpu" for day in (11, 12, 13)
    ]
    assert asked < 4 * len(with_commits)
