from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import BoundError, HistoryUnavailable, RevisionUnknown, SettingError
from bisect_tool.history.cloning import fetch, open_line
from bisect_tool.history.line import ClonedLine
from bisect_tool.history.projects import Project
from bisect_tool.history.source import HistoryAccess
from tests.rig.git_history.maker import GitHistory, run_git

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def line_of(folder: Path) -> ClonedLine:
    return open_line("toy", None, HistoryAccess(clone=folder, environ=ENVIRON), lambda _line: None)


def titles(line: ClonedLine, from_: str | None, to: str | None) -> list[str]:
    return [commit.title for commit in line.stretch(from_, to).commits]


@pytest.fixture
def history(tmp_path: Path) -> GitHistory:
    """An hour between two commits, from 10:00 of 2026-03-01 on; `work` is merged by D, `v1` is on a release branch."""
    with GitHistory(tmp_path / "toy.git") as made:
        made.write("A", {"torch/a.py": "1"})
        made.write("B", {"torch/b.py": "1"})
        made.branch("work")
        made.branch("release")
        made.write("inner", {"w.py": "1"}, branch="work")
        made.write("picked", {"r.py": "1"}, branch="release")
        made.tag("v1", made.tip("release"))
        made.write("C", {"torch/a.py": "2", "aten/x.cpp": "int x;"})
        made.write("D", {"w.py": "1"}, merged=[made.tip("work")])
        made.tag("v2")
        made.write("E", {"torch/b.py": None, "torch/c.py": "3", "README.md": "x"})
    return made


def test_everything_without_bounds_along_first_parents(history: GitHistory) -> None:
    assert titles(line_of(history.folder), None, None) == ["A", "B", "C", "D", "E"]


def test_bounds_are_inclusive(history: GitHistory) -> None:
    line = line_of(history.folder)
    b, c = (commit.sha for commit in line.stretch(None, None).commits[1:3])
    assert titles(line, b, c[:10]) == ["B", "C"]
    assert titles(line, c, "v2") == ["C", "D"]
    assert titles(line, "2", "2") == ["D"]


def test_dates_count_whole(history: GitHistory) -> None:
    assert titles(line_of(history.folder), "2026-03-01T11", "2026-03-01T14") == ["B", "C"]
    assert titles(line_of(history.folder), "2026-03-01", "2026-03-01") == ["A", "B", "C", "D", "E"]


def test_a_tag_beside_the_line_stands_for_where_it_left(history: GitHistory) -> None:
    stretch = line_of(history.folder).stretch("v1", None)
    assert [commit.title for commit in stretch.commits] == ["B", "C", "D", "E"]
    assert "is not on the first-parent line" in stretch.notes[0]


def test_a_commit_inside_a_merge_stands_for_where_its_branch_began(history: GitHistory) -> None:
    stretch = line_of(history.folder).stretch(history.tip("work"), None)
    assert [commit.title for commit in stretch.commits] == ["B", "C", "D", "E"]


def test_bounds_that_mean_nothing(history: GitHistory) -> None:
    line = line_of(history.folder)
    with pytest.raises(RevisionUnknown):
        line.stretch("v9", None)
    with pytest.raises(BoundError, match="holds everything"):
        line.stretch(history.tip(), "v2")
    with pytest.raises(BoundError, match="no commit is that old"):
        line.stretch(None, "2020-01-01")


def test_what_commits_touch(history: GitHistory) -> None:
    line = line_of(history.folder)
    a, _, c, d, e = (commit.sha for commit in line.stretch(None, None).commits)
    touched = line.touched([a, c, d, e], ("torch",))
    assert [(touched[sha].python, touched[sha].binaries) for sha in (a, c, d, e)] == [
        (True, False), (True, True), (False, False), (True, False),
    ]  # fmt: skip


def test_the_files_that_differ(history: GitHistory) -> None:
    line = line_of(history.folder)
    a, *_, e = (commit.sha for commit in line.stretch(None, None).commits)
    found = {change.path: (change.content, change.was is None) for change in line.changes(e, a, ("torch",))}
    assert found == {"torch/a.py": (b"1", False), "torch/c.py": (None, False)}


def test_a_commit_is_checked_out_with_the_tags(history: GitHistory, tmp_path: Path) -> None:
    line = line_of(history.folder)
    line.check_out(line.stretch(None, "v2").commits[2].sha, tmp_path / "source")
    assert (tmp_path / "source" / "torch" / "a.py").read_text() == "2"
    assert run_git("tag", at=tmp_path / "source").split() == ["v1", "v2"]


def test_a_clone_of_our_own_is_made_once_and_brought_up_to_date(history: GitHistory, tmp_path: Path) -> None:
    served = tmp_path / "example" / "toy"
    served.parent.mkdir()
    history.folder.rename(served)
    project = Project("example/toy", web=tmp_path.as_uri())
    access = HistoryAccess(repositories=tmp_path / "clones", environ=ENVIRON)
    said: list[str] = []
    folder = fetch(project, tmp_path / "clones", access, said.append)
    assert titles(line_of(folder), None, None) == ["A", "B", "C", "D", "E"]
    run_git("update-ref", "refs/heads/main", "refs/tags/v2", at=served)
    assert fetch(project, tmp_path / "clones", access, said.append) == folder
    assert titles(line_of(folder), None, None) == ["A", "B", "C", "D"]
    assert said == ["cloning example/toy, once", "fetching what is new in example/toy"]


def test_a_repository_that_cannot_be_fetched(tmp_path: Path) -> None:
    project = Project("example/toy", web=tmp_path.as_uri())
    access = HistoryAccess(repositories=tmp_path / "clones", environ=ENVIRON)
    with pytest.raises(HistoryUnavailable, match="could not be fetched"):
        fetch(project, tmp_path / "clones", access, lambda _line: None)
    with pytest.raises(SettingError, match="not known where toy is developed"):
        open_line("toy", None, access, lambda _line: None)


def test_a_clone_without_file_contents_says_so(history: GitHistory, tmp_path: Path) -> None:
    run_git("config", "uploadpack.allowFilter", "true", at=history.folder)
    run_git("clone", "--quiet", "--bare", "--filter=blob:none", history.folder.as_uri(), str(tmp_path / "blobless"))
    line = line_of(tmp_path / "blobless")
    a, *_, e = (commit.sha for commit in line.stretch(None, None).commits)
    with pytest.raises(HistoryUnavailable) as error:
        line.changes(e, a, ("torch",))
    assert "--no-filter" in error.value.advice
    with pytest.raises(HistoryUnavailable) as error:
        line.check_out(a, tmp_path / "source")
    assert "--no-filter" in error.value.advice
