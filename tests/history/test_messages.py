from __future__ import annotations

import pytest

from bisect_tool.history.messages import Nature, Told, read_message
from tests.rig.git_history import messages as written

SHA = "0123456789abcdef0123456789abcdef01234567"


def told(message: str) -> Told:
    title, _, body = message.partition("\n")
    return read_message(title, body)


def test_a_change_that_the_merge_bot_landed() -> None:
    found = told(written.landed("[inductor] Fuse more", 1234, body="See #99 and (#98).", stack=(1230, 1231)))
    assert found == Told("[inductor] Fuse more", pull=1234, stack=(1230, 1231))


def test_the_last_resolved_line_counts() -> None:
    body = "\nPull Request resolved: https://github.com/a/b/pull/1\ntext\nPull Request resolved: https://github.com/a/b/pull/2\n"
    assert read_message("Title (#3)", body).pull == 2


@pytest.mark.parametrize(
    ("title", "pull", "rest"),
    [
        ("Fix (#12)", 12, "Fix"),
        ("Fix (#12) (#34)", 34, "Fix"),
        ("Merge pull request #56 from someone/branch", 56, "Merge pull request #56 from someone/branch"),
        ("Fix #12", None, "Fix #12"),
        ("Fix (#12) for good", None, "Fix (#12) for good"),
        ("", None, ""),
    ],
)
def test_the_number_of_the_pull_request(title: str, pull: int | None, rest: str) -> None:
    assert (read_message(title, "").pull, read_message(title, "").title) == (pull, rest)


def test_a_revert_of_the_merge_bot_has_no_number_of_its_own() -> None:
    found = told(written.reverted("Fuse more", 1234, SHA))
    assert found == Told("Fuse more", Nature.REVERT, None, (SHA,), (1234,))


def test_githubs_revert_button() -> None:
    found = told(written.revert_button("Fuse more", 12, 34))
    assert found == Told("Fuse more", Nature.REVERT, 34, (), (12,))


@pytest.mark.parametrize(
    ("title", "nature", "rest", "pulls"),
    [
        (
            "Revert #9025 because it introduces a bug (#9195)",
            Nature.REVERT,
            "#9025 because it introduces a bug",
            (9025,),
        ),
        ("Revert #11 #12, #13 and #14", Nature.REVERT, "#11 #12, #13 and #14", (11, 12, 13, 14)),
        ("Revert 2 commits of #11", Nature.REVERT, "2 commits of #11", ()),
        ("Revert 9273 (#9625)", Nature.REVERT, "9273", (9273,)),
        ('Back out "Fuse more" (#7)', Nature.REVERT, "Fuse more", ()),
        ("[Revert] Fuse more (#7)", Nature.REVERT, "Fuse more", ()),
        ("Rollback of Fuse more", Nature.REVERT, "Fuse more", ()),
        ('Revert "Fuse more (#1)" and fix the test (#2)', Nature.REVERT, "Fuse more", (1,)),
        ("Partially revert Fuse more", Nature.REVERT, "Fuse more", ()),
        ('Revert "Revert "Fuse more (#1)" (#2)" (#3)', Nature.RELAND, "Fuse more", (2,)),
        ('Revert "Revert "Revert "Fuse more (#1)" (#2)" (#3)" (#4)', Nature.REVERT, "Fuse more", (3,)),
        ('Reapply "Fuse more (#1)" (#5)', Nature.RELAND, "Fuse more", ()),
        ("[reland] Fuse more (#5)", Nature.RELAND, "Fuse more", ()),
        ("[Reland #2] Fuse more (#5)", Nature.RELAND, "Fuse more", ()),
        ("Reland Fuse more (#5)", Nature.RELAND, "Fuse more", ()),
        ("Re-land: Fuse more", Nature.RELAND, "Fuse more", ()),
        ("Fuse more (reland) (#5)", Nature.RELAND, "Fuse more", ()),
        ("Reland tf distribute fix (#20051)", Nature.RELAND, "tf distribute fix", ()),
        ("Reverse the order (#1)", Nature.CHANGE, "Reverse the order", ()),
        ("Revertible layers (#1)", Nature.CHANGE, "Revertible layers", ()),
        ("Add rollback support", Nature.CHANGE, "Add rollback support", ()),
        ("Background outliers", Nature.CHANGE, "Background outliers", ()),
        ("Relandscape the docs", Nature.CHANGE, "Relandscape the docs", ()),
    ],
)
def test_words_for_taking_back_and_bringing_again(
    title: str, nature: Nature, rest: str, pulls: tuple[int, ...]
) -> None:
    found = read_message(title, "")
    assert (found.nature, found.title, found.undone_pulls) == (nature, rest, pulls)


def test_a_hash_that_is_the_whole_title() -> None:
    assert read_message(f"Reverts {SHA}", "text").undone == (SHA,)
    assert read_message("Reverts deadbeef and more", "").undone == ()
    assert read_message(SHA, "").undone == ()


def test_numbers_of_another_review_system() -> None:
    assert read_message("Title (#1)", "text\n\nDifferential Revision: [D123456](https://x/D123456)\n").diff == "D123456"
    assert read_message("Revert D84020397: Group embedding (#2)", "").undone_diffs == ("D84020397",)
    body = "Original commit changeset: 0123456789ab\n\nOriginal Phabricator Diff: D7654321\n\nDifferential Revision: D9999999\n"
    assert read_message('Back out "Group embedding"', body).undone_diffs == ("D7654321",)
    assert read_message("Group embedding", body).undone_diffs == ()


def test_a_part_is_said_to_be_one() -> None:
    assert read_message("Partially revert Fuse more", "").is_partial
    assert not read_message("Revert Fuse more", "").is_partial


def test_a_squash_that_lists_a_revert_among_its_pieces_is_a_change() -> None:
    found = read_message("Improve layers (#8)", f'* Revert "old try"\n\nThis reverts commit {SHA}.\n\n* Again\n')
    assert (found.nature, found.undone, found.undone_pulls) == (Nature.CHANGE, (), ())


def test_several_commits_at_once() -> None:
    body = f"This reverts commit {SHA}.\nThis reverts commit {SHA[::-1]}.\nThis reverts commit {SHA}.\n"
    assert read_message('Revert "a" and "b"', body).undone == (SHA, SHA[::-1])


def test_what_is_brought_again_may_be_named() -> None:
    assert read_message("[reland] Fuse more (#9)", "Reland of #7, with a fix").again_pulls == (7,)
    assert read_message("Fuse more (#9)", "Reland of #7").again_pulls == ()


def test_a_cherry_pick() -> None:
    found = read_message("Fuse more (#9)", f"text\n(cherry picked from commit {SHA})\n")
    assert (found.picked_from, found.nature) == (SHA, Nature.CHANGE)


@pytest.mark.parametrize("title", ['Revert "' * 50, "(#1)" * 2000, "Revert " * 3000, '"' * 5000, "[reland" * 900])
def test_titles_made_to_hurt(title: str) -> None:
    assert isinstance(read_message(title, title), Told)
