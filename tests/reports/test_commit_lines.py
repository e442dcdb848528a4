from __future__ import annotations

import pytest

from bisect_tool.reports.commit_lines import FirstLook, look_first, show_commits, web_address
from bisect_tool.reports.commits import Commits, RuledOut, Suspect, Suspicion
from bisect_tool.reports.report import Boundary
from tests.reports.samples import commit, commits


def boundary(listed: Commits | None) -> Boundary:
    return Boundary(before="2.12.0", after="2.13.0", commits=listed)


def suspected(number: int, points: float, reason: str = "touches a.py") -> Suspicion:
    return Suspicion(suspects=(Suspect(sha=f"{number}" * 40, points=points, reasons=(reason,)),))


NINE = commits(*(commit(number, f"Change {number}") for number in range(1, 10)))


def test_a_faint_reason_does_not_open_a_report() -> None:
    assert look_first(boundary(NINE), suspected(4, 2.9)) is None
    assert look_first(boundary(NINE), suspected(4, 3.0)) == FirstLook(
        "4" * 40,
        "Of the 9 commits between 2.12.0 and 2.13.0 look first at 444444444444, #1004 “Change 4” by Ada Example, "
        "2026-01-04: it touches a.py.",
    )


def test_a_reason_with_its_own_subject_needs_no_other() -> None:
    look = look_first(boundary(NINE), suspected(4, 3.0, "its title names lua, as the repro does"))
    assert look is not None
    assert look.text.endswith("by Ada Example, 2026-01-04: its title names lua, as the repro does.")


def test_the_only_commit_needs_no_reason() -> None:
    one = commits(commit(1, "Change"))
    assert look_first(boundary(one), Suspicion()) == FirstLook(
        "1" * 40, "Between 2.12.0 and 2.13.0 is one commit: 111111111111, #1001 “Change” by Ada Example, 2026-01-01."
    )


@pytest.mark.parametrize("listed", [None, commits(), commits(rows=None)])
def test_without_commits_nothing_is_named(listed: Commits | None) -> None:
    assert look_first(boundary(listed), Suspicion()) is None


def test_many_commits_are_counted_and_only_suspects_shown_first() -> None:
    shown = show_commits(NINE, suspected(4, 0.1))
    assert (shown.heading, shown.first_says) == ("9 commits", ", look first at:")
    assert [one.short for one in shown.first] == ["4" * 12]
    assert len(shown.every) == 9


def test_few_commits_are_all_shown_suspects_first() -> None:
    few = commits(commit(1, "One"), commit(2, "Two"), commit(3, "Three"))
    shown = show_commits(few, suspected(3, 5.0))
    assert [one.title for one in shown.first] == ["Three", "One", "Two"]


def test_what_is_ruled_out_is_counted_and_not_among_the_first() -> None:
    why = "the change is in Python, and it touches none of that"
    suspicion = Suspicion(ruled_out=tuple(RuledOut(sha=f"{number}" * 40, reason=why) for number in range(1, 8)))
    shown = show_commits(NINE, suspicion)
    assert [one.short[0] for one in shown.first] == ["8", "9"]
    assert shown.notes == (f"7 commits are ruled out: {why}.",)
    assert shown.every[0].remarks == (f"ruled out: {why}",)


def test_no_ranking_and_no_list() -> None:
    assert show_commits(NINE, None).first == ()
    assert show_commits(commits(rows=None), None).heading == "the commits are not known"
    assert show_commits(commits(), None).heading == "no commits"


@pytest.mark.parametrize(
    "text", [None, "", "javascript:alert(1)", "https://a.b/c d", "https://a.b/x)y", "https://a/\n", "ftp://a.b"]
)
def test_what_is_no_web_address_is_no_link(text: str | None) -> None:
    assert web_address(text) is None
