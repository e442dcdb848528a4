from __future__ import annotations

import pytest

from bisect_tool.service.pages.question_list import Wanted, question_list
from bisect_tool.service.question import Found, QuestionState


def test_a_filter_keeps_the_others() -> None:
    wanted = Wanted(text=" zero grad ", state=QuestionState.FAILED, package="torch", before="0x1p+1-q")
    assert wanted.address(package=None) == "/?text=zero+grad&state=failed"
    assert wanted.address() == "/?text=zero+grad&state=failed&package=torch"
    assert Wanted().address() == "/"


def test_words_of_the_address_are_quoted() -> None:
    assert Wanted(owner='"><script>').address() == "/?owner=%22%3E%3Cscript%3E"


@pytest.mark.parametrize("wanted", [Wanted(text="x"), Wanted(state=QuestionState.QUEUED), Wanted(before="y")])
def test_an_empty_list_says_whether_anything_was_asked_at_all(wanted: Wanted) -> None:
    assert question_list(wanted, Found([], None), {}).is_filtered
    assert not question_list(Wanted(), Found([], None), {}).is_filtered


def test_older_pages_and_back() -> None:
    shown = question_list(Wanted(text="x", before="0x1p+1-q1"), Found([], "0x1p+0-q2"), {})
    assert shown.next == "/?text=x&before=0x1p%2B0-q2"
    assert shown.first == "/?text=x"
