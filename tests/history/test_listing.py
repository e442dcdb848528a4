from __future__ import annotations

from bisect_tool.history.listing import list_commits
from bisect_tool.history.source import Source
from tests.rig.git_history.typical import Typical


def test_a_list_has_everything(source: Source, typical: Typical) -> None:
    made = [commit.sha for commit in typical.commits]
    found = list_commits(source, made[0], made[60])
    assert [entry.sha for entry in found.listed] == made[1:61]
    gone = {sha for pair in typical.pairs for sha in pair}
    assert {entry.sha for entry in found.folded} == gone & set(made[1:61])
    assert len(found.standing) + len(found.folded) == 60
    assert all(entry.files for entry in found.listed)
    assert found.notes() == ()
    assert found.link == f"https://github.com/pytorch/pytorch/compare/{made[0]}...{made[60]}"
    assert set(found.series) == {one for one in typical.series if set(one) <= set(made[1:61])}


def test_two_releases_say_that_they_are_not_on_one_line(source: Source) -> None:
    found = list_commits(source, "v2.99.1", "main", with_files=False)
    fork = found.span.merge_base or ""
    assert found.notes() == (
        f"The two are not on one line: they parted at {fork[:12]}, and the first has 2 commits that the second has not. "
        "Listed is what is new in the second.",
    )
    assert all(entry.files is None for entry in found.listed)


def test_nothing_between(source: Source) -> None:
    found = list_commits(source, "main", "main")
    assert (found.listed, found.notes()) == ((), ())
