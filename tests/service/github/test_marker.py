from __future__ import annotations

from bisect_tool.service.github.marker import mark_of, marked

KEY = "0123456789abcdef" * 4


def test_a_comment_knows_what_it_is_about_and_that_nobody_changed_it() -> None:
    body = marked("It appeared in 2.13.0.\n", KEY)
    assert body.startswith("It appeared in 2.13.0.\n\n<!-- bisect 0123456789abcdef0123 ")
    mark = mark_of(body)
    assert mark is not None
    assert (mark.about, mark.is_whole) == ("0123456789abcdef0123", True)


def test_other_line_ends_are_no_change() -> None:
    body = marked("one\ntwo", KEY).replace("\n", "\r\n") + "\r\n"
    mark = mark_of(body)
    assert mark is not None
    assert mark.is_whole


def test_a_changed_text_shows() -> None:
    mark = mark_of(marked("It appeared in 2.13.0.", KEY).replace("2.13.0", "2.12.0"))
    assert mark is not None
    assert not mark.is_whole


def test_without_the_mark_at_the_end_there_is_none() -> None:
    assert mark_of("nothing") is None
    assert mark_of(marked("text", KEY) + "\n\nEdit: see above") is None
    assert mark_of("") is None


def test_the_same_text_has_the_same_mark() -> None:
    assert marked("text", KEY) == marked("text\n\n", KEY) != marked("text", KEY[::-1])
