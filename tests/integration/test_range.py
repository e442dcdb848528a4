"""``bisect range``, as a user starts it: nothing is installed or run."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place
from tests.integration.test_history import Project
from tests.rig.git_history import GitHistory
from tests.rig.nightly_index import NightlyIndex, NightlyPlan
from tests.rig.toy import ToyBuild

WEB = "https://github.com/example/toy"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("project") / "pytorch.git")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Three commits, the first and the last released; the second is hostile."""
    folder = tmp_path_factory.mktemp("toy") / "toy.git"
    with GitHistory(folder) as history:
        first = history.write("Begin (#1)", {"toy/a.py": "1\n"})
        history.tag("v1.0")
        bad = history.write(
            "<b>x</b> [y](javascript:1) \x1b[31m\u202eevil @torvalds\n\nbody",
            {"toy/new\nline.py": "1\n", "toy/\u202egnp.py": "1\n"},
            author="A\u202e*script*",
        )
        last = history.write("End (#3)", {"toy/b.py": "1\n"})
        history.tag("v1.1")
    return folder, [first.sha, bad.sha, last.sha]


def found(place: Place, *words: str | Path, status: int = 0) -> dict[str, Any]:
    ran = place.run("range", *words, "--json", "-")
    assert ran.status == status, ran.err + ran.out
    return dict(json.loads(ran.out))


def test_two_nightlies_by_date(place: Place, project: Project) -> None:
    plan = NightlyPlan(first=min(project.cuts), last=max(project.cuts), cuts=project.cuts, bare=True)
    with NightlyIndex(plan) as index:
        index.today = date(2026, 3, 20)
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
        words = ("2026-03-05", "2026-03-06", "--device", "cpu", "--repo", project.folder, "--file", "torch/runtime.py")
        report = found(place, *words)
    assert (report["older"]["build"], report["newer"]["build"]) == (
        "2.12.0.dev20260305+cpu", "2.12.0.dev20260306+cpu",
    )  # fmt: skip
    assert [row["sha"] for row in report["commits"]["rows"]] == project.between
    assert report["commits"]["before"]["basis"] == "carried"
    assert report["suspicion"]["suspects"][0]["sha"] == project.culprit.sha
    assert report["differences"] is None


def test_two_commits(place: Place, toy: tuple[Path, list[str]]) -> None:
    folder, (first, bad, last) = toy
    words = ("--package", "toy", "--source", "example/toy", "--repo", folder)
    report = found(place, first, last[:10], *words)
    assert [row["sha"] for row in report["commits"]["rows"]] == [bad, last]
    assert report["commits"]["link"] == f"{WEB}/compare/{first}...{last}"
    back = place.run("range", last, first, *words)
    assert "give them the other way round" in back.out


def test_versions_need_no_index(place: Place, toy: tuple[Path, list[str]]) -> None:
    folder, (_, bad, last) = toy
    report = found(place, "1.0", "1.1", "--package", "toy", "--source", "example/toy", "--repo", folder)
    assert [row["sha"] for row in report["commits"]["rows"]] == [bad, last]
    assert report["commits"]["after"]["how"] == "the release has the tag v1.1"
    assert [note.split(":")[0] for note in report["notes"]] == [
        "1.0 is taken by its version alone", "1.1 is taken by its version alone",
    ]  # fmt: skip


def test_without_a_history_there_is_a_link(place: Place) -> None:
    ran = place.run("range", "1.0", "1.1", "--package", "toy", "--source", "example/toy")
    assert ran.status == 0
    assert f"compare:  {WEB}/compare/v1.0...v1.1" in ran.out
    assert "commits:  the commits are not known" in ran.out
    assert "GitHub cannot be reached" in ran.out


def test_what_others_wrote_stays_text(place: Place, toy: tuple[Path, list[str]]) -> None:
    folder, _ = toy
    ran = place.run("range", "v1.0", "v1.1", "--package", "toy", "--source", "example/toy", "--repo", folder)
    assert not set(ran.out) & {"\x1b", "\u202e"}
    assert "\\x1b[31m\\u202eevil" in ran.out
    report = found(place, "v1.0", "v1.1", "--package", "toy", "--source", "example/toy", "--repo", folder)
    row = report["commits"]["rows"][0]
    assert row["files"] == ["toy/new\\nline.py", "toy/\\u202egnp.py"]
    assert row["author"] == "A\\u202e*script*"


def test_environments_that_were_made_are_compared(place: Place, toy: tuple[Path, list[str]]) -> None:
    folder, _ = toy
    place.publish([ToyBuild("1.0"), ToyBuild("1.1", {"main": "RuntimeError: scatter"})])
    spec = place.spec(source="example/toy")
    place.answer("run", spec, "--repo", folder)
    report = found(place, "1.0", "1.1", "--spec", spec, "--repo", folder)
    assert report["differences"] == []
    assert report["notes"] == []


def test_a_date_without_a_build_means_the_one_before(place: Place) -> None:
    folder, stamps = place.root / "liger.git", [datetime(2026, 3, 2 + 4 * n, 12, tzinfo=UTC) for n in range(3)]
    with GitHistory(folder) as history:
        made = [
            history.write(f"Change {n}", {"a": f"{n}"}, when=stamp - timedelta(hours=2))
            for n, stamp in enumerate(stamps)
        ]
    place.publish([ToyBuild(f"0.7.0.dev{one:%Y%m%d%H%M%S}", uploaded=one) for one in stamps], "liger-kernel-nightly")
    report = found(place, "2026-03-04", "2026-03-06", "--package", "liger-kernel-nightly", "--repo", folder)
    assert [row["sha"] for row in report["commits"]["rows"]] == [made[1].sha]
    assert report["notes"] == ["2026-03-04 has no build of its own: 0.7.0.dev20260302120000 is the newest before it"]


def test_nobody_knows_the_repository(place: Place) -> None:
    ran = place.run("range", "1.0", "1.1", "--package", "toy")
    assert ran.status == 18
    assert "--source owner/name" in ran.err
