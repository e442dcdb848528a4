from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bisect_tool.errors import HistoryUnavailable, RevisionUnknown
from bisect_tool.history.commit import ChangedFile, Touch
from bisect_tool.history.projects import KNOWN, Project
from bisect_tool.history.source import HistoryAccess, Source, open_source
from tests.history.places import ENVIRON, TORCH
from tests.rig.git_history import GitHistory, run_git
from tests.rig.git_history.typical import Typical


def opened(folder: Path, project: Project = TORCH, environ: dict[str, str] | None = None) -> Source:
    return open_source(project, HistoryAccess(clone=folder, environ=environ or ENVIRON))


def test_a_folder_without_a_repository(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnavailable, match="no git repository"):
        opened(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnavailable, match="no git repository"):
        opened(tmp_path / "gone")


def test_without_git(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnavailable, match="git cannot be started"):
        opened(tmp_path, environ={"PATH": str(tmp_path)})


def test_a_folder_inside_a_working_tree(tmp_path: Path, typical: Typical) -> None:
    run_git("clone", "--quiet", str(typical.folder), str(tmp_path / "tree"))
    source = opened(tmp_path / "tree" / "torch" / "_inductor")
    sha = typical.commits[9].sha
    assert source.commits(typical.commits[8].sha, sha).commits[0].sha == sha
    assert source.files([sha]).missing == ()


def test_a_shallow_clone_says_so_instead_of_giving_a_part(shallow: Source, typical: Typical) -> None:
    last, before = typical.commits[-1].sha, typical.commits[-3].sha
    assert [commit.sha for commit in shallow.commits(before, last).commits] == [c.sha for c in typical.commits[-2:]]
    with pytest.raises(HistoryUnavailable, match="shallow"):
        shallow.commits("v2.99.0", last)  # the tag is there, but what joins it to the branch is not
    with pytest.raises(RevisionUnknown, match="no such commit"):
        shallow.commits(typical.commits[0].sha, last)
    with pytest.raises(HistoryUnavailable, match="shallow"):
        shallow.newest_before(datetime(2026, 3, 3, tzinfo=UTC))


def test_where_a_shallow_clone_ends_the_files_are_unknown(shallow: Source, typical: Typical) -> None:
    edge, inside = typical.commits[-5].sha, typical.commits[-1].sha
    touched = shallow.files([edge, inside])
    assert set(touched.known) == {inside}
    assert touched.missing == (edge,)
    assert touched.why is not None
    assert "shallow" in touched.why


def test_a_clone_without_trees_has_the_list_but_not_the_files(tmp_path: Path, typical: Typical) -> None:
    run_git("config", "uploadpack.allowFilter", "true", at=typical.folder)
    run_git("clone", "--quiet", "--bare", "--filter=tree:0", f"file://{typical.folder}", str(tmp_path / "treeless"))
    source = opened(tmp_path / "treeless")
    shas = [commit.sha for commit in typical.commits[5:8]]
    assert [commit.sha for commit in source.commits(typical.commits[4].sha, shas[-1]).commits] == shas
    touched = source.files(shas)
    assert touched.known == {}
    assert touched.missing == tuple(shas)
    assert touched.why is not None
    assert "lacks" in touched.why


def test_a_clone_without_contents_does_not_need_the_mail_map(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.write("Map", {".mailmap": "Ada Example <ada@example.org>\n"})
        made = history.write("Change", {"a": "1"})
    run_git("config", "uploadpack.allowFilter", "true", at=tmp_path / "r")
    run_git("clone", "--quiet", "--bare", "--filter=blob:none", f"file://{tmp_path / 'r'}", str(tmp_path / "blobless"))
    assert opened(tmp_path / "blobless").commit("main").sha == made.sha


def test_a_partial_clone_never_fetches(tmp_path: Path, typical: Typical) -> None:
    run_git("config", "uploadpack.allowFilter", "true", at=typical.folder)
    run_git("config", "uploadpack.allowAnySHA1InWant", "true", at=typical.folder)
    clone = tmp_path / "partial"
    run_git("clone", "--quiet", "--bare", "--filter=blob:none", f"file://{typical.folder}", str(clone))
    before = sorted(path.name for path in (clone / "objects").rglob("*"))
    source = opened(clone)
    source.files([commit.sha for commit in source.commits(typical.commits[0].sha, "main").commits])
    with pytest.raises(RevisionUnknown):
        source.resolve("e" * 40)
    assert sorted(path.name for path in (clone / "objects").rglob("*")) == before


def test_a_commit_that_a_forced_push_removed(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Old ground", {"torch/a.py": "1"})
        gone = history.land("Will be gone", {"torch/a.py": "2"})
        history.branch("main", base.sha)
        new = history.land("Instead", {"torch/a.py": "3"})
    span = opened(tmp_path / "r").commits(gone.sha, new.sha)
    assert [commit.sha for commit in span.commits] == [new.sha]
    assert (span.is_one_line, span.only_base, span.merge_base) == (False, 1, base.sha)


def test_a_merge_shows_its_files_against_the_first_parent(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", {"torch/a.py": "1"})
        history.branch("side")
        side = history.land("On the side", {"torch/b.py": "1"}, branch="side")
        other = history.land("On main", {"torch/c.py": "1"})
        merge = history.write("Merge pull request #7 from someone/side", {"torch/b.py": "1"}, merged=[side.sha])
    source = opened(tmp_path / "r")
    span = source.commits(base.sha, merge.sha)
    assert {commit.sha for commit in span.commits} == {side.sha, other.sha, merge.sha}
    assert span.commits[-1].sha == merge.sha
    assert span.commits[-1].is_merge
    assert source.files([merge.sha]).known[merge.sha] == (ChangedFile("torch/b.py", Touch.ADDED),)
    assert [commit.sha for commit in span.spine()] == [other.sha, merge.sha]
    assert [commit.sha for commit in span.brought_by(span.commits[-1])] == [side.sha]
    assert span.brought_by(span.spine()[0]) == ()


def test_a_merge_inside_a_merge(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.write("Ground", {"a": "1"})
        history.branch("side")
        history.branch("deep")
        deep = history.write("Deep", {"d": "1"}, branch="deep")
        side = history.write("Side", {"s": "1"}, branch="side")
        inner = history.write("Merge deep", branch="side", merged=[deep.sha])
        outer = history.write("Merge side", merged=[inner.sha])
        last = history.write("After", {"a": "2"})
    span = opened(tmp_path / "r").commits(base.sha, last.sha)
    assert [commit.sha for commit in span.spine()] == [outer.sha, last.sha]
    merge = next(commit for commit in span.commits if commit.sha == outer.sha)
    assert {commit.sha for commit in span.brought_by(merge)} == {deep.sha, side.sha, inner.sha}
    nested = next(commit for commit in span.commits if commit.sha == inner.sha)
    assert [commit.sha for commit in span.brought_by(nested)] == [deep.sha]


def test_a_submodule_is_told_from_a_file(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        one = history.write("Pin ideep", links={"third_party/ideep": "1" * 40})
        two = history.write("Move ideep", links={"third_party/ideep": "2" * 40})
    touched = opened(tmp_path / "r").files([one.sha, two.sha])
    assert touched.known[one.sha] == (ChangedFile("third_party/ideep", Touch.ADDED, is_submodule=True),)
    assert touched.known[two.sha] == (ChangedFile("third_party/ideep", Touch.MODIFIED, is_submodule=True),)


@pytest.mark.parametrize(
    "name", ["two\nlines.py", 'quo"te.py', "tab\there.py", "\u202eyp.evil.py", "café.py", " lead.py", ":odd.py"]
)
def test_odd_file_names_come_through(tmp_path: Path, name: str) -> None:
    with GitHistory(tmp_path / "r") as history:
        made = history.write("Odd", {f"torch/{name}": "1", "torch/z.py": "1"})
    files = opened(tmp_path / "r").files([made.sha]).known[made.sha]
    assert {file.path for file in files} == {f"torch/{name}", "torch/z.py"}


def test_odd_messages_come_through(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        made = history.write(
            "<b>*Bold*</b> \x1b[31mred \u202eright\n\n---\n",
            {"a": "1"},
            author="Zoë <3 \u200f",
        )
        empty = history.write("", {"a": "2"})
    source = opened(tmp_path / "r")
    assert source.commit(made.sha).title == "<b>*Bold*</b> \x1b[31mred \u202eright"
    assert source.commit(empty.sha).title == ""
    assert [commit.sha for commit in source.commits(made.sha, empty.sha).commits] == [empty.sha]


def test_what_the_user_has_set_up_does_not_matter(tmp_path: Path, typical: Typical) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[log]\n showSignature = true\n date = relative\n[core]\n quotePath = true\n"
        "[diff]\n noprefix = true\n renames = copies\n"
    )
    environ = {
        **ENVIRON, "HOME": str(home), "GIT_DIR": "/nowhere", "LANG": "de_DE.UTF-8", "LANGUAGE": "de", "GIT_TRACE": "1",
    }  # fmt: skip
    source = opened(typical.folder, environ=environ)
    sha = typical.commits[4].sha
    assert [commit.sha for commit in source.commits(typical.commits[3].sha, sha).commits] == [sha]


def test_the_branch_of_the_project_wins_over_a_stale_fork(tmp_path: Path, typical: Typical) -> None:
    run_git("clone", "--quiet", "--bare", str(typical.folder), str(tmp_path / "fork.git"))
    run_git("update-ref", "refs/heads/main", typical.commits[5].sha, at=tmp_path / "fork.git")
    run_git("clone", "--quiet", str(tmp_path / "fork.git"), str(tmp_path / "work"))
    run_git("remote", "add", "upstream", "https://github.com/pytorch/pytorch.git", at=tmp_path / "work")
    fetched = "+refs/heads/*:refs/remotes/upstream/*"
    run_git("fetch", "--quiet", str(typical.folder), fetched, at=tmp_path / "work")
    source = opened(tmp_path / "work")
    assert source.resolve("main") == typical.commits[-1].sha
    newest = source.newest_before(datetime(2030, 1, 1, tzinfo=UTC))
    assert newest is not None
    assert newest.sha == typical.commits[-1].sha
    assert len(source.nightlies(date(2026, 3, 1), date(2026, 4, 1)).nightlies) == 21


def test_a_clone_without_the_nightly_branch(tmp_path: Path, typical: Typical) -> None:
    run_git("clone", "--quiet", "--bare", "--single-branch", str(typical.folder), str(tmp_path / "one"))
    with pytest.raises(HistoryUnavailable, match="no branch nightly"):
        opened(tmp_path / "one").nightlies(date(2026, 3, 1), date(2026, 4, 1))


def test_a_project_without_a_nightly_branch(typical: Typical) -> None:
    liger = next(project for project in KNOWN if "liger-kernel" in project.packages)
    assert opened(typical.folder, liger).nightlies(date(2026, 3, 1), date(2026, 4, 1)).nightlies == ()


def test_five_thousand_commits(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", {"torch/a.py": "0"})
        made = [
            history.land(f"Change {number}", {f"torch/f{number % 40}.py": str(number)}).sha for number in range(5000)
        ]
    source = opened(tmp_path / "r")
    span = source.commits(base.sha, "main")
    assert [commit.sha for commit in span.commits] == made
    assert len(source.files(made).known) == 5000
