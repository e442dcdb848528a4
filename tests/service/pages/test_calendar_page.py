from __future__ import annotations

from datetime import date

import pytest

from bisect_tool.service.calendar import Calendar, Fault, Listed, Stream, Use, calendar_of
from bisect_tool.service.pages.calendar_page import CalendarPage, Month, calendar_page, month_of, stream_of

NIGHTLY, RELEASES = Stream("torch", "nightly"), Stream("toy", "release")
MARCH = Month(2026, 3)


def page(*listed: Listed, uses: tuple[Use, ...] = (), faults: tuple[Fault, ...] = ()) -> CalendarPage:
    found: Calendar = calendar_of(NIGHTLY, listed, uses, faults, MARCH.first, MARCH.last)
    return calendar_page(found, [NIGHTLY, RELEASES], MARCH)


@pytest.mark.parametrize("text", ["", "2026-13", "1999-01", "2026-1", "2026-01-01", "٢٠٢٦-٠١"])
def test_a_month_that_is_none_is_this_one(text: str) -> None:
    assert month_of(text, date(2026, 11, 30)) == Month(2026, 11)


def test_months_before_and_after_cross_the_year() -> None:
    shown = calendar_page(Calendar(NIGHTLY, date(2026, 1, 1), date(2026, 1, 31), ()), [], Month(2026, 1))
    assert shown.earlier.endswith("month=2025-12")
    assert shown.later.endswith("month=2026-02")


def test_weeks_begin_on_monday() -> None:
    cells = page().cells
    assert [cell.day for cell in cells[:7]] == [None] * 6 + [date(2026, 3, 1)]
    assert len(cells) == 6 + 31


def test_a_day_says_what_it_has() -> None:
    rows = (
        Listed("a", "2026-03-02", "listed", size=900_000_000),
        Listed("b", "2026-03-02", "listed", size=950_000_000),
        Listed("c", "2026-03-03", "left out", because="no wheel"),
        Listed("d", "2026-03-04", "listed"),
    )
    uses = (Use("q1", "one", "a", "2026-03-02", "pass"), Use("q2", "two", "a", "2026-03-02", "failing"))
    shown = page(*rows, uses=uses, faults=(Fault("b", "", "bad"), Fault("d", "", "cannot be imported")))
    told = {cell.day.day: (cell.sign, cell.word, cell.told) for cell in shown.cells if cell.day and cell.kind != "none"}
    assert told == {
        2: ("✓", "there", ("2 builds", "900 MB to 950 MB", "✗ 1 broken", "2 questions")),
        3: ("–", "missing", ()),
        4: ("✗", "broken", ()),
    }


def test_a_day_leads_to_its_first_row_only_once() -> None:
    shown = page(Listed("a", "2026-03-02", "listed"), Listed("b", "2026-03-02", "listed"))
    assert [row.anchor for row in shown.rows] == ["d02", ""]


def test_the_stream_is_the_one_asked_for_or_the_usual_one() -> None:
    assert stream_of("toy/release", [NIGHTLY, RELEASES]) is RELEASES
    assert stream_of("", [RELEASES, NIGHTLY]) is NIGHTLY
    assert stream_of("?", [RELEASES]) is RELEASES
    assert stream_of("", []).package == "torch"
