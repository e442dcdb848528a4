"""From two builds to the commits: whole runs with a history to read, or without one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place, failing
from tests.rig.git_history import GitHistory, Made
from tests.rig.github import as_html, limited, serve
from tests.rig.nightly_index import Change, Cut, NightlyIndex, NightlyPlan
from tests.rig.toy import ToyBuild, toy_script

ZERO = "RuntimeError: gradient is all zero"
FIRST = date(2026, 3, 2)
BROKEN = date(2026, 3, 6)


class Project:
    """A week of torch: every day four changes of other files; the day before `BROKEN` also the culprit and a reverted one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day: dict[date, list[Made]] = {}
        with GitHistory(folder) as history:
            for number in range(8):
                self._write_day(history, FIRST + timedelta(days=number))
                history.nightly(FIRST + timedelta(days=number + 1))
            self.cuts = {one.day: Cut(one.sha, one.main) for one in history.nightlies}

    def _write_day(self, history: GitHistory, day: date) -> None:
        start = datetime(day.year, day.month, day.day, 8, tzinfo=UTC)
        made = [
            history.land(f"[area{n}] Tidy up ({day:%m%d})", {f"torch/area{n}/core.py": f"{day}\n"},
                         when=start + timedelta(hours=n))
            for n in range(4)
        ]  # fmt: skip
        if day + timedelta(days=1) == BROKEN:
            self.culprit = history.land(
                "Make sums faster",
                {"torch/runtime.py": "fast = 1\n"},
                author="Carla Culprit",
                when=start + timedelta(hours=5),
            )
            back = history.land("Try a thing", {"torch/thing.py": "1\n"})
            self.pair = (back, history.revert(back))
            made += [self.culprit, *self.pair]
        self.day[day] = made

    @property
    def between(self) -> list[str]:
        """The commits of the day before the first bad nightly."""
        return [made.sha for made in self.day[BROKEN - timedelta(days=1)]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("project") / "pytorch.git")


def nightly_spec(place: Place, index: NightlyIndex) -> Path:
    index.today = date(2026, 3, 20)
    place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
    path = place.spec(package="torch", channel="nightly", script="repro.py", from_="2026-03-03", to="2026-03-09")
    toy_script(path.parent, module="torch")
    return path


def plan(project: Project) -> NightlyPlan:
    return NightlyPlan(
        first=min(project.cuts), last=max(project.cuts), cuts=project.cuts, bare=True,
        changes=(Change("main", BROKEN, ZERO),),
    )  # fmt: skip


def appeared(report: dict[str, Any]) -> dict[str, Any]:
    return dict(report["failures"][0]["episodes"][0]["appeared"])


def check_the_answer(report: dict[str, Any], project: Project) -> None:
    (boundary,) = report["boundaries"]
    commits = boundary["commits"]
    assert [row["sha"] for row in commits["rows"]] == project.between
    back, revert = project.pair
    assert {row["sha"]: row["folded_with"] for row in commits["rows"] if row["folded_with"]} == {
        back.sha: revert.sha, revert.sha: back.sha,
    }  # fmt: skip
    suspects = appeared(report)["suspicion"]["suspects"]
    assert suspects[0]["sha"] == project.culprit.sha
    assert suspects[0]["reasons"][0] == "touches torch/runtime.py, where the failure came up"
    assert "Carla Culprit" in report["summary"][1]
    assert project.culprit.sha[:12] in report["summary"][1]


def test_the_culprit_is_the_first_suspect(place: Place, project: Project) -> None:
    with NightlyIndex(plan(project)) as index:
        spec = nightly_spec(place, index)
        report = place.answer("run", spec, "--repo", project.folder)
        check_the_answer(report, project)
        ran = place.run("run", spec, "--repo", project.folder, "--markdown", place.root / "report.md", "--html",
                        place.root / "report.html")  # fmt: skip
    assert "reading the commits of pytorch/pytorch between" in ran.err
    lines = ran.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith("commits:"))
    assert lines[at].strip() == "commits:  7 commits (2 of them cancel out):"
    assert lines[at + 1].split()[:3] == ["1.", project.culprit.sha[:12], f"#{project.culprit.pull}"]
    assert "touches torch/runtime.py, where the failure came up" in lines[at + 2]
    link = f"https://github.com/pytorch/pytorch/commit/{project.culprit.sha}"
    assert all(link in (place.root / name).read_text() for name in ("report.md", "report.html"))


def test_githubs_api_gives_the_same_and_is_asked_once(place: Place, project: Project) -> None:
    with NightlyIndex(plan(project)) as index, serve(project.folder) as github:
        spec = nightly_spec(place, index)
        place.extra["BISECT_GITHUB_API"] = github.url
        check_the_answer(place.answer("run", spec), project)
        asked = github.count("compare") + github.count("commit")
        check_the_answer(place.answer("run", spec), project)
        assert github.count("compare") + github.count("commit") == asked


@pytest.mark.parametrize("fault", ["limited", "html", "nobody"])
def test_without_a_history_the_answer_stands(place: Place, project: Project, fault: str) -> None:
    planted = {"limited": limited(reset_in=3000), "html": as_html()}
    with NightlyIndex(plan(project)) as index, serve(project.folder) as github:
        spec = nightly_spec(place, index)
        if fault in planted:
            github.plant("*", planted[fault])
            place.extra["BISECT_GITHUB_API"] = github.url
        report = place.answer("run", spec)
    end = appeared(report)
    assert (end["kind"], end["first_with"]) == ("exact", "2.12.0.dev20260306+cpu")
    # A nightly names a commit of the nightly branch: a link between two of these would show another range.
    assert end["compare"] is None
    assert end["suspicion"] is None
    commits = report["boundaries"][0]["commits"]
    assert commits["rows"] is None
    (note,) = commits["notes"]
    assert note.startswith("The commits of pytorch/pytorch between the builds are not known: ")
    assert "--repo" in note
    word = {"limited": "rate limit", "html": "not what GitHub's API gives", "nobody": "cannot be reached"}[fault]
    assert word in note


def liger(place: Place, stamps: list[datetime], broken: int) -> Path:
    builds = [
        ToyBuild(f"0.7.0.dev{stamp:%Y%m%d%H%M%S}", failing([0])[0] if number >= broken else {}, uploaded=stamp)
        for number, stamp in enumerate(stamps)
    ]
    place.publish(builds, "liger-kernel-nightly", module="liger_kernel")
    path = place.spec(package="liger-kernel-nightly", script="repro.py")
    toy_script(path.parent, module="liger_kernel")
    return path


def test_a_dated_package_by_commit_time(place: Place) -> None:
    start = datetime(2026, 3, 2, 10, tzinfo=UTC)
    folder = place.root / "liger.git"
    with GitHistory(folder) as history:
        made = [
            history.write(
                f"Change {n} (#{n + 1})", {f"src/liger_kernel/part{n}.py": "1\n"}, when=start + timedelta(hours=3 * n)
            )
            for n in range(12)
        ]
        culprit = history.write(
            "Fuse two loops (#77)",
            {"src/liger_kernel/runtime.py": "1\n"},
            when=start + timedelta(hours=40),
            author="Lee",
        )
        history.write("After (#78)", {"README.md": "1\n"}, when=start + timedelta(hours=50))
    stamps = [start + timedelta(hours=1 + 12 * n) for n in range(5)]
    report = place.answer("run", liger(place, stamps, 4), "--pre", "--repo", folder)
    (boundary,) = report["boundaries"]
    assert boundary["before"] == f"0.7.0.dev{stamps[3]:%Y%m%d%H%M%S}"
    commits = boundary["commits"]
    assert (commits["before"]["basis"], commits["before"]["sha"]) == ("time", made[-1].sha)
    assert [row["sha"] for row in commits["rows"]] == [culprit.sha]
    assert commits["notes"] == []
    assert f"is one commit: {culprit.sha[:12]}, #77 “Fuse two loops” by Lee" in report["summary"][1]
    assert appeared(report)["compare"] == commits["link"]


def test_releases_on_branches_are_not_one_line(place: Place) -> None:
    folder = place.root / "toy.git"
    with GitHistory(folder) as history:
        history.write("Begin (#1)", {"toy/__init__.py": "1\n"})
        history.branch("release/1.0")
        history.write("Set version 1.0", {"version.txt": "1.0\n"}, branch="release/1.0")
        history.tag("v1.0", history.tip("release/1.0"))
        fix = history.write("Shared fix (#2)", {"toy/shared.py": "1\n"})
        culprit = history.write("New runtime (#3)", {"toy/runtime.py": "1\n"})
        history.branch("release/1.1")
        history.write("Set version 1.1", {"version.txt": "1.1\n"}, branch="release/1.1")
        history.tag("v1.1", history.tip("release/1.1"))
    place.publish([ToyBuild("1.0"), ToyBuild("1.1", {"main": ZERO})])
    report = place.answer("run", place.spec(source="example/toy"), "--repo", folder)
    commits = report["boundaries"][0]["commits"]
    assert [row["title"] for row in commits["rows"]] == [fix.title, culprit.title, "Set version 1.1"]
    assert commits["notes"][0].startswith("The two are not on one line: they parted at ")
    assert appeared(report)["suspicion"]["suspects"][0]["sha"] == culprit.sha
    assert appeared(report)["compare"] == commits["link"]
    assert commits["link"].startswith("https://github.com/example/toy/compare/")


def test_nobody_knows_the_repository(place: Place) -> None:
    place.publish([ToyBuild("1.0"), ToyBuild("1.1", {"main": ZERO})])
    report = place.answer("run", place.spec())
    assert report["boundaries"][0]["commits"] is None
    assert any("source: owner/name" in text for text in report["advice"])
