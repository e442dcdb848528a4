from __future__ import annotations

from pathlib import Path

from bisect_tool.history.folding import Listed, fold, mark_picked, series
from bisect_tool.history.messages import Nature
from bisect_tool.history.source import HistoryAccess, open_source
from tests.history.places import ENVIRON, TORCH
from tests.rig.git_history import GitHistory, Made
from tests.rig.git_history.typical import Typical

OLD = {"torch/a.py": "old"}
NEW = {"torch/a.py": "new"}


def listed(folder: Path, base: Made, head: str = "main", *, files: bool = True) -> dict[str, Listed]:
    source = open_source(TORCH, HistoryAccess(clone=folder, environ=ENVIRON))
    commits = source.commits(base.sha, head).commits
    known = source.files([commit.sha for commit in commits]).known if files else {}
    return {entry.sha: entry for entry in fold(commits, known)}


def test_a_commit_and_its_revert_cancel_out(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        other = history.land("Something else", {"torch/b.py": "1"})
        back = history.revert(change)
    found = listed(tmp_path / "r", base)
    assert found[change.sha].folded_with == back.sha
    assert found[back.sha].folded_with == change.sha
    assert found[back.sha].takes_back == (change.sha,)
    assert found[other.sha].stands


def test_also_when_the_files_are_not_known(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        back = history.revert(change)
    found = listed(tmp_path / "r", base, files=False)
    assert found[change.sha].folded_with == back.sha


def test_a_revert_of_something_earlier_stands(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        back = history.revert(change)
    found = listed(tmp_path / "r", change)
    assert found[back.sha].stands
    assert found[back.sha].takes_back_earlier
    assert found[back.sha].takes_back == ()


def test_a_revert_that_leaves_a_part_folds_nothing(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.land("Fuse more", {**NEW, "torch/left.py": "stays"})
        back = history.write(f'Revert "Fuse more (#{change.pull})"\n\nThis reverts commit {change.sha}.\n', OLD)
        also = history.land("Fuse less", {"torch/c.py": "1"})
        part = history.write(f'Partially revert "Fuse less (#{also.pull})"\n', {"torch/c.py": "0"})
    found = listed(tmp_path / "r", base)
    assert all(entry.stands for entry in found.values())
    assert found[back.sha].takes_back == (change.sha,)
    assert found[part.sha].takes_back == (also.sha,)


def test_land_revert_reland_leaves_the_reland(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        back = history.revert(change)
        again = history.reland(change, style="[reland] {title}")
    found = listed(tmp_path / "r", base)
    assert [found[made.sha].stands for made in (change, back, again)] == [False, False, True]
    assert found[again.sha].brings_again == change.sha


def test_relanded_under_the_same_number_and_reverted_again(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        one = history.land("Fuse more", NEW, pull=77)
        back = history.revert(one)
        two = history.land("Fuse more", NEW, pull=77)
        away = history.revert(two)
    found = listed(tmp_path / "r", base)
    assert found[one.sha].folded_with == back.sha
    assert found[two.sha].folded_with == away.sha


def test_a_revert_of_a_revert_of_something_earlier_changes_nothing(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        back = history.revert(change)
        message = f'Revert "Revert "Fuse more (#{change.pull})""\n\nThis reverts commit {back.sha}.\n'
        again = history.write(message, NEW)
    found = listed(tmp_path / "r", change)
    assert found[back.sha].folded_with == again.sha
    assert found[again.sha].folded_with == back.sha


def test_a_reland_of_something_earlier_stands_for_it_may_differ(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.land("Ground", OLD)
        change = history.land("Fuse more", NEW)
        back = history.revert(change)
        again = history.reland(change)
    found = listed(tmp_path / "r", change)
    assert found[back.sha].stands
    assert found[again.sha].stands


def test_reverts_of_reverts_that_do_not_call_themselves_relands(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.write("Fuse more", NEW)
        one = history.write(f"Reverts {change.sha}", OLD)
        two = history.write(f"Reverts {one.sha}", NEW)
        three = history.write(f"Reverts {two.sha}", OLD)
    found = listed(tmp_path / "r", base, two.sha)
    assert [(found[made.sha].nature, found[made.sha].stands) for made in (change, one, two)] == [
        (Nature.CHANGE, False), (Nature.REVERT, False), (Nature.RELAND, True),
    ]  # fmt: skip
    assert found[two.sha].brings_again == change.sha
    found = listed(tmp_path / "r", base, three.sha)
    assert found[three.sha].nature is Nature.REVERT
    assert not any(entry.stands for entry in found.values())


def test_the_revert_button_names_the_pull_request(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", OLD)
        change = history.write("Fuse more (#12)\n", NEW)
        back = history.write('Revert "Fuse more (#12)" (#13)\n\nReverts pytorch/pytorch#12\n', OLD)
    found = listed(tmp_path / "r", base)
    assert found[change.sha].folded_with == back.sha


def test_a_revert_may_name_a_hash_a_review_or_several_requests(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.write("Ground", {**OLD, "torch/b.py": "old", "torch/c.py": "old", "torch/d.py": "old"})
        by_hash = history.write("Fuse more", NEW)
        away = history.write(f"Reverts {by_hash.sha}", OLD)
        by_diff = history.write("Fuse less\n\nDifferential Revision: D1234567\n", {"torch/b.py": "new"})
        back = history.write("Revert D1234567", {"torch/b.py": "old"})
        one = history.write("One (#11)", {"torch/c.py": "new"})
        two = history.write("Two (#12)", {"torch/d.py": "new"})
        both = history.write("Revert #11 #12", {"torch/c.py": "old", "torch/d.py": "old"})
    found = listed(tmp_path / "r", base)
    folded = [(entry.sha, entry.folded_with) for entry in found.values()]
    assert folded == [
        (by_hash.sha, away.sha), (away.sha, by_hash.sha), (by_diff.sha, back.sha), (back.sha, by_diff.sha),
        (one.sha, both.sha), (two.sha, both.sha), (both.sha, one.sha),
    ]  # fmt: skip


def test_a_title_that_github_cut(tmp_path: Path) -> None:
    title = "Fix array(), maximum(), minimum(), reshape() and split() of the backend"
    with GitHistory(tmp_path / "r") as history:
        base = history.write("Ground", OLD)
        change = history.write(title, NEW)
        back = history.write(f'Revert "{title[:60]}…" (#22342)\n', OLD)
    found = listed(tmp_path / "r", base)
    assert found[change.sha].folded_with == back.sha


def test_one_revert_of_two_commits(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Ground", {**OLD, "torch/b.py": "old"})
        one = history.land("One", NEW)
        two = history.land("Two", {"torch/b.py": "new"})
        body = f"This reverts commit {one.sha}.\nThis reverts commit {two.sha}.\n"
        back = history.write(f'Revert "One" and "Two"\n\n{body}', {**OLD, "torch/b.py": "old"})
        alone = history.write(f'Revert "One" and "Gone"\n\n{body.replace(two.sha, "9" * 40)}', OLD)
    found = listed(tmp_path / "r", base)
    assert found[one.sha].folded_with == found[two.sha].folded_with == back.sha
    assert found[alone.sha].stands
    assert found[alone.sha].takes_back_earlier


def test_series_are_found(typical: Typical) -> None:
    source = open_source(TORCH, HistoryAccess(clone=typical.folder, environ=ENVIRON))
    commits = source.commits(typical.commits[0].sha, "main").commits
    assert series(fold(commits, {})) == tuple(typical.series)


def test_every_planted_pair_is_found_and_nothing_else(typical: Typical) -> None:
    source = open_source(TORCH, HistoryAccess(clone=typical.folder, environ=ENVIRON))
    commits = source.commits(typical.commits[0].sha, "main").commits
    found = fold(commits, source.files([commit.sha for commit in commits]).known)
    pairs = [(entry.sha, entry.folded_with) for entry in found if entry.told.pull and not entry.stands]
    assert pairs == typical.pairs
    assert [(entry.brings_again, entry.sha) for entry in found if entry.brings_again] == typical.relands


def test_what_the_other_release_has_as_a_cherry_pick(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.land("Ground", OLD)
        history.branch("release/1.0")
        by_hash = history.land("Fuse more", NEW)
        by_number = history.land("Repair the loss of scaling", {"torch/b.py": "1"})
        by_title = history.land("Do not divide by zero in the loss", {"torch/c.py": "1"})
        fresh = history.land("Only on main", {"torch/d.py": "1"})
        picks = (
            f"Fuse more for 1.0 (#50)\n\n(cherry picked from commit {by_hash.sha})\n",
            f"[1.0] Scaling of the loss (#{by_number.pull}) (#51)\n",
            "Do not divide by zero in the loss (#52)\n",
        )
        for number, message in enumerate(picks):
            history.write(message, {"torch/a.py": str(number)}, branch="release/1.0")
    source = open_source(TORCH, HistoryAccess(clone=tmp_path / "r", environ=ENVIRON))
    entries = fold(source.commits("release/1.0", "main").commits, {})
    marked = mark_picked(entries, source.commits("main", "release/1.0").commits)
    assert [(entry.sha, entry.is_in_base) for entry in marked] == [
        (by_hash.sha, True), (by_number.sha, True), (by_title.sha, True), (fresh.sha, False),
    ]  # fmt: skip
