from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bisect_tool.builds.build import Build
from bisect_tool.history.projects import Project
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.history_reading import HistoryReader, with_revision
from tests.rig.git_history import GitHistory, run_git
from tests.rig.github import limited, serve

TOY = Project("example/toy", ("toy",))


def build(version: str, revision: str | None = None) -> Build:
    return Build("toy", version, "", "", datetime(2026, 3, 1, tzinfo=UTC), revision=revision)


def test_a_rate_limit_is_met_once(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        history.write("Begin", {"a": "1"})
    told: list[str] = []
    with serve(tmp_path / "toy.git", name="example/toy") as github:
        github.plant("*", limited(reset_in=3000))
        reader = HistoryReader(HistoryAccess(api=github.url), told.append)
        first = reader.look(TOY, build("1.0"), build("1.1"), None)
        asked = github.count()
        second = reader.look(TOY, build("1.1"), build("1.2"), None)
        assert github.count() == asked
    assert first.part.link == "https://github.com/example/toy/compare/v1.0...v1.1"
    assert first.part.rows is None
    assert second.part.link == "https://github.com/example/toy/compare/v1.1...v1.2"
    for looked in (first, second):
        (note,) = looked.part.notes
        assert note.startswith(
            "The commits of example/toy between the builds are not known: GitHub's rate limit is used up"
        )
    assert told == ["reading the commits of example/toy between 1.0 and 1.1"]


def test_what_was_read_before_is_there_without_github(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        one = history.write("One", {"a": "1"}).sha
        two = history.write("Two", {"a": "2"}).sha
    ends = (build("1.0", one), build("1.1", two))
    with serve(tmp_path / "toy.git", name="example/toy") as github:
        access = HistoryAccess(api=github.url, cache=tmp_path / "answers")
        before = HistoryReader(access).look(TOY, *ends, None)
        reader = HistoryReader(access)
        reader.give_up(TOY, "GitHub cannot be reached")
        asked = github.count()
        after = reader.look(TOY, *ends, None)
        assert github.count() == asked
    assert after.part == before.part
    assert [row.title for row in after.part.rows or ()] == ["Two"]


def test_a_folder_that_is_no_clone_is_told(tmp_path: Path) -> None:
    reader = HistoryReader(HistoryAccess(clone=tmp_path, environ={"PATH": "/usr/bin:/bin"}))
    looked = reader.look(TOY, build("1.0"), build("1.1"), None)
    assert looked.part.rows is None
    assert looked.part.notes == (
        "The commits of example/toy between the builds are not known: there is no git repository; "
        "give the folder of a clone.",
    )


def test_a_shallow_clone_gives_the_ranges_that_it_has(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        made = [history.write(f"Change {n}", {"a": f"{n}"}).sha for n in range(6)]
    run_git("clone", "--quiet", "--bare", "--depth=3", f"file://{tmp_path / 'toy.git'}", str(tmp_path / "shallow.git"))
    reader = HistoryReader(HistoryAccess(clone=tmp_path / "shallow.git", environ={"PATH": "/usr/bin:/bin"}))
    old = reader.look(TOY, build("1.0", made[0]), build("1.5", made[5]), None)
    new = reader.look(TOY, build("1.4", made[4]), build("1.5", made[5]), None)
    assert old.part.rows is None
    assert [row.title for row in new.part.rows or ()] == ["Change 5"]


def test_the_same_pair_is_read_once(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "toy.git") as history:
        one = history.write("One", {"a": "1"}).sha
        two = history.write("Two", {"a": "2"}).sha
    told: list[str] = []
    reader = HistoryReader(HistoryAccess(clone=tmp_path / "toy.git", environ={"PATH": "/usr/bin:/bin"}), told.append)
    looked = [reader.look(TOY, build("1.0", one), build("1.1", two), None) for _ in range(2)]
    assert looked[0] is looked[1]
    assert [row.title for row in looked[0].part.rows or ()] == ["Two"]
    assert len(told) == 1


def test_what_an_environment_holds_is_surer_than_the_listing() -> None:
    assert with_revision(build("1.0", "aaaa"), {"revision": "bbbb"}).revision == "bbbb"
    assert with_revision(build("1.0", "aaaa"), {}).revision == "aaaa"
