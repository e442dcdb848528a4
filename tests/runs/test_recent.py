from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.builds.fitting import target_for
from bisect_tool.runs.recent import FRESH, Recent, Recollection

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = datetime(2026, 3, 6, tzinfo=UTC)
LISTING = Listing(
    builds=(
        Build("torch", "2.12.0.dev20260306+cpu", "a.whl", "http://127.0.0.1/a.whl", DAY, None, 5, "cpu", "ab" * 20),
        Build("torch", "2.12.0", "b.whl", "http://127.0.0.1/b.whl", None, "cd" * 32, fingerprint="etag:1", hidden=True),
    ),
    left_out=(LeftOut("2.11.0", DAY, LeftOutBecause.YANKED, "broken"),),
    source="http://127.0.0.1",
    dated=True,
    notes=("variant cpu",),
)
WANTED = Wanted("torch", target_for("3.11.7"), from_="2026-03-01", to="2026-03-09")


class Desk:
    """Counts how often the index was asked; `later` is the time since the first question."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = 0

    def ask(self) -> Listing:
        self.asked += 1
        return LISTING

    def of(self, wanted: Wanted = WANTED, *, later: timedelta = timedelta(0), refresh: bool = False) -> Recent:
        recollection = Recollection(self.folder, refresh, lambda: NOW + later)
        return recollection.of(("nightly", "http://127.0.0.1"), wanted, self.ask)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_run_that_came_to_its_end_is_remembered(desk: Desk) -> None:
    desk.of().remember()
    again = desk.of(later=timedelta(minutes=59))
    assert (again.listing, again.asked, again.is_kept, desk.asked) == (LISTING, NOW, True, 1)
    assert again.note().startswith("the builds are those that the index had at 2026-03-09 12:00 UTC")


def test_a_run_that_did_not_is_not(desk: Desk) -> None:
    desk.of()
    assert not desk.of().is_kept
    assert desk.asked == 2


def test_what_is_looked_at_later_makes_nothing_younger(desk: Desk) -> None:
    desk.of().remember()
    desk.of(later=timedelta(minutes=50)).remember()
    assert desk.of(later=timedelta(minutes=55)).asked == NOW
    assert not desk.of(later=FRESH).is_kept


@pytest.mark.parametrize("later", [FRESH, timedelta(days=3), timedelta(minutes=-1)])
def test_what_is_old_or_from_the_future_does_not_count(desk: Desk, later: timedelta) -> None:
    desk.of().remember()
    assert not desk.of(later=later).is_kept


def test_the_index_is_asked_again_when_that_is_wanted(desk: Desk) -> None:
    desk.of().remember()
    assert not desk.of(refresh=True).is_kept


def test_a_replaced_file_is_the_end_of_it(desk: Desk) -> None:
    desk.of().remember()
    desk.of().forget()
    assert not desk.of().is_kept


@pytest.mark.parametrize(
    "other",
    [
        replace(WANTED, to="2026-03-10"),
        replace(WANTED, variant="cu130"),
        replace(WANTED, pre=True),
        replace(WANTED, target=target_for("3.12.1")),
    ],
)
def test_another_question_is_another_one(desk: Desk, other: Wanted) -> None:
    desk.of().remember()
    assert not desk.of(other).is_kept


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 2, "tool": "0"}', '{"format": 2'])
def test_a_damaged_file_counts_as_none(desk: Desk, text: str) -> None:
    desk.of().remember()
    (kept,) = desk.folder.glob("*.json")
    kept.write_text(text)
    assert not desk.of().is_kept
