"""What every source must do, over the same history read in four ways."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bisect_tool.errors import RevisionUnknown
from bisect_tool.history.commit import ChangedFile, Touch
from bisect_tool.history.source import Source
from tests.rig.git_history.typical import Typical


def test_a_range_has_every_commit_in_order(source: Source, typical: Typical) -> None:
    made = [commit.sha for commit in typical.commits]
    span = source.commits(made[3], made[40])
    assert [commit.sha for commit in span.commits] == made[4:41]
    assert (span.base, span.head, span.merge_base) == (made[3], made[40], made[3])
    assert span.is_one_line
    assert (span.only_base, span.left_out) == (0, 0)


def test_a_range_of_more_than_a_page(source: Source, typical: Typical) -> None:
    made = [commit.sha for commit in typical.commits]
    assert [commit.sha for commit in source.commits(made[0], made[-1]).commits] == made[1:]
    assert len(made) > 120


def test_an_empty_range(source: Source, typical: Typical) -> None:
    sha = typical.commits[7].sha
    assert source.commits(sha, sha).commits == ()


def test_a_commit_says_who_and_when(source: Source, typical: Typical) -> None:
    made = typical.commits[0]
    commit = source.commit(made.sha[:10])
    assert commit.sha == made.sha
    assert commit.title == f"{made.title} (#{made.pull})"
    assert f"Pull Request resolved: https://github.com/pytorch/pytorch/pull/{made.pull}" in commit.body
    assert commit.date == datetime(2026, 3, 2, 0, 35, tzinfo=UTC)
    assert commit.author in {"Ada Example", "Björn Beispiel", "Chidi Nwosu", "Dana Próba"}


def test_names_of_all_kinds_are_resolved(source: Source, typical: Typical) -> None:
    tag = typical.tags["v2.99.0"]
    assert source.resolve("v2.99.0") == tag
    assert source.resolve(tag) == tag
    assert source.resolve(tag[:9]) == tag
    assert source.resolve("main") == typical.commits[-1].sha
    assert source.resolve("release/2.99") == typical.tags["v2.99.1"]
    assert source.resolve("nightly") == typical.nightlies[-1].sha
    assert source.resolve("tags/v2.99.0") == tag
    assert source.resolve("heads/main") == typical.commits[-1].sha


def test_a_name_of_one_kind_means_no_other(source: Source, typical: Typical) -> None:
    for revision in (f"tags/{typical.commits[3].sha[:8]}", "tags/main", "heads/v2.99.0"):
        with pytest.raises(RevisionUnknown):
            source.resolve(revision)


@pytest.mark.parametrize(
    "revision", ["v9.9.9", "abcdef0", "no-such-branch", "", "-h", "main..nightly", "HEAD^", "../x", "a b"]
)
def test_what_is_not_there_is_said(source: Source, revision: str) -> None:
    with pytest.raises(RevisionUnknown, match=r"no such commit, tag or branch|no hash, tag or branch"):
        source.resolve(revision)


def test_a_full_hash_that_is_not_there(source: Source, typical: Typical) -> None:
    with pytest.raises(RevisionUnknown):
        source.commits(typical.commits[0].sha, "f" * 40)


def test_two_releases_are_not_on_one_line(source: Source, typical: Typical) -> None:
    span = source.commits("v2.99.1", "main")
    fork = source.merge_base("main", "v2.99.1")
    assert span.merge_base == fork == source.merge_base("v2.99.1", "main")
    assert not span.is_one_line
    assert span.only_base == 2
    assert [commit.sha for commit in span.commits] == [
        commit.sha for commit in typical.commits[[c.sha for c in typical.commits].index(fork or "") + 1 :]
    ]


def test_no_common_past(source: Source) -> None:
    assert source.merge_base("main", "nightly") is None


def test_the_newest_commit_before_a_moment(source: Source, typical: Typical) -> None:
    made = typical.commits[10]
    assert source.newest_before(made.when) is not None
    found = source.newest_before(made.when)
    assert found is not None
    assert found.sha == made.sha
    assert source.newest_before(datetime(2020, 1, 1, tzinfo=UTC)) is None


def test_the_nightlies_of_some_days(source: Source, typical: Typical) -> None:
    days = (date(2026, 3, 9), date(2026, 3, 16))
    expected = [(n.day, n.sha, n.main) for n in typical.nightlies if days[0] <= n.day <= days[1]]
    assert [(n.day, n.sha, n.main) for n in source.nightlies(*days).nightlies] == expected
    assert len(expected) == 9  # one day was cut twice


def test_the_files_of_commits(source: Source, typical: Typical) -> None:
    made = next(commit for commit in typical.commits if "Change lowering.py" in commit.title)
    touched = source.files([made.sha, typical.tags["v2.99.0"]])
    first = Touch.ADDED if made.before["torch/_inductor/lowering.py"] is None else Touch.MODIFIED
    assert touched.known[made.sha] == (ChangedFile("torch/_inductor/lowering.py", first),)
    assert touched.known[typical.tags["v2.99.0"]] == (ChangedFile("version.txt", Touch.ADDED),)
    assert (touched.missing, touched.why) == ((), None)


def test_a_revert_deletes_what_was_added(source: Source, typical: Typical) -> None:
    made = {commit.sha: commit for commit in typical.commits}
    change, back = next(pair for pair in typical.pairs if None in made[pair[0]].before.values())
    touched = source.files([change, back])
    assert [file.touch for file in touched.known[change]] == [Touch.ADDED]
    assert [file.touch for file in touched.known[back]] == [Touch.DELETED]


def test_the_link_needs_nobody(source: Source) -> None:
    assert source.compare_link("aa", "bb") == "https://github.com/pytorch/pytorch/compare/aa...bb"
