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
def test_it_opens_at_the_newest_month_that_has_builds(text: str) -> None:
    today = date(2026, 11, 30)
    assert month_of(text, ("2025-12", "2026-03"), today) == MARCH
    assert month_of(text, (), today) == Month(2026, 11)
    assert month_of("2026-01", ("2025-12", "2026-03"), today) == Month(2026, 1)


def test_one_moves_between_months_that_have_builds() -> None:
    months = ("2025-11", "2026-03", "2026-08")

    def moves(year: int, month: int) -> tuple[str | None, str | None]:
        at = Month(year, month)
        shown = calendar_page(Calendar(NIGHTLY, at.first, at.last, (), months=months), [], at)
        return shown.earlier, shown.later

    def to(month: str) -> str:
        return f"/builds?of=torch%2Fnightly&month={month}"

    assert moves(2026, 3) == (to("2025-11"), to("2026-08"))
    assert moves(2026, 8) == (to("2026-03"), None)
    assert moves(2025, 11) == (None, to("2026-03"))
    assert moves(2026, 1) == (to("2025-11"), to("2026-03"))  # which has none itself


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
