from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisect_tool.errors import HistoryUnavailable
from bisect_tool.history.clone import ClonedSource, open_clone
from bisect_tool.history.contents import Likeness, compare_contents, narrow_by_content
from bisect_tool.history.revisions import Basis, Revision
from tests.history.places import ENVIRON, TORCH
from tests.rig.git_history import GitHistory, Made, run_git
from tests.rig.wheel_maker import make_wheel

VERSION = {"toy/version.py": "version = '1.0.dev20260301'\n"}


@pytest.fixture
def made(tmp_path: Path) -> tuple[ClonedSource, list[Made]]:
    """Four commits: code, other code, documentation, other code. `version.py` is written by the build."""
    with GitHistory(tmp_path / "origin", start=datetime(2026, 3, 1, tzinfo=UTC)) as history:
        commits = [
            history.write(
                "One", {"src/toy/a.py": "1\n", "src/toy/b.py": "1\n", "src/toy/version.py": "version = '0'\n"}
            ),
            history.write("Two", {"src/toy/a.py": "2\n"}),
            history.write("Docs", {"docs/x.rst": "words\n"}),
            history.write("Three", {"src/toy/b.py": "3\n"}),
        ]
    run_git("config", "uploadpack.allowFilter", "true", at=tmp_path / "origin")
    run_git(
        "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{tmp_path / 'origin'}", str(tmp_path / "clone")
    )
    return open_clone(tmp_path / "clone", TORCH, ENVIRON), commits


def wheel(folder: Path, a: str, b: str) -> Path:
    return make_wheel(folder, "toy", "1.0", modules={"toy/a.py": a, "toy/b.py": b, **VERSION})


def guess(commits: list[Made], at: int) -> Revision:
    return Revision(commits[at].sha, Basis.TIME, "what main held", commits[0].sha, commits[-1].sha)


def test_every_commit_is_compared(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    found = compare_contents(source, wheel(tmp_path, "2\n", "1\n"), [commit.sha for commit in commits])
    assert found == (
        Likeness(commits[0].sha, 1, 1), Likeness(commits[1].sha, 2, 0),
        Likeness(commits[2].sha, 2, 0), Likeness(commits[3].sha, 1, 1),
    )  # fmt: skip


def test_the_content_decides(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    found = narrow_by_content(source, guess(commits, 1), wheel(tmp_path, "2\n", "3\n"))
    assert (found.sha, found.basis, found.is_certain) == (commits[3].sha, Basis.CONTENT, True)
    assert found.how == f"the wheel has the Python files of {commits[3].sha[:12]}"


def test_commits_of_the_same_python_stay_possible(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    found = narrow_by_content(source, guess(commits, 2), wheel(tmp_path, "2\n", "1\n"))
    assert (found.earliest, found.sha, found.latest) == (commits[1].sha, commits[2].sha, commits[2].sha)


def test_a_wheel_from_elsewhere_is_said_to_be(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    for a, b, same in (("1\n", "3\n", 1), ("x\n", "y\n", 0)):
        found = narrow_by_content(source, guess(commits, 1), wheel(tmp_path, a, b))
        assert (found.sha, found.basis) == (commits[1].sha, Basis.TIME)
        assert (found.earliest, found.latest) == (commits[0].sha, commits[3].sha)
        assert found.how.startswith("what main held; but no commit of that time has all Python files of the wheel")
        assert found.how.endswith(f"has {same} of 2")


def test_a_wheel_of_something_else(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    other = make_wheel(tmp_path, "other", "1.0", modules={"other/a.py": "1\n"})
    assert narrow_by_content(source, guess(commits, 1), other).how.endswith(
        "the wheel has no Python file of the repository"
    )


def test_a_time_that_seems_certain_is_checked_too(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    sure = Revision(commits[1].sha, Basis.TIME, "what main held", commits[1].sha, commits[1].sha)
    assert narrow_by_content(source, sure, wheel(tmp_path, "2\n", "1\n")).basis is Basis.CONTENT
    assert "has 1 of 2" in narrow_by_content(source, sure, wheel(tmp_path, "9\n", "1\n")).how


def test_a_tag_is_left_alone(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    sure = Revision(commits[1].sha, Basis.TAG, "tag", commits[1].sha, commits[1].sha)
    assert narrow_by_content(source, sure, tmp_path / "no wheel is read") is sure


def test_a_wheel_that_is_none(made: tuple[ClonedSource, list[Made]], tmp_path: Path) -> None:
    source, commits = made
    (tmp_path / "x.whl").write_text("<html>")
    with pytest.raises(HistoryUnavailable, match="the wheel cannot be read"):
        narrow_by_content(source, guess(commits, 1), tmp_path / "x.whl")
