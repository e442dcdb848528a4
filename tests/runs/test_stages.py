from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bisect_tool.builds.build import Build
from bisect_tool.errors import BoundError
from bisect_tool.runs.stages import merged, window
from bisect_tool.runs.surveying import Window


def release(version: str, date: datetime | None, package: str = "torch") -> Build:
    return Build(package, version, f"{package}-{version}.whl", "", date)


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


def test_a_release_is_not_on_the_line_of_the_nightlies() -> None:
    found = window(release("2.12.1", day(6, 17)), release("2.13.0", day(7, 8)))
    # The branch of 2.12 was cut in April; what 2.13.0 has was on main before it came out.
    assert found == Window(day(4, 8), day(7, 8))


def test_without_a_known_cut_the_window_begins_well_before_the_release() -> None:
    found = window(release("1.0", day(6, 1), "toy"), release("1.1", day(7, 1), "toy"))
    assert found == Window(day(6, 1) - timedelta(days=90), day(7, 1))


def test_releases_without_dates() -> None:
    with pytest.raises(BoundError, match="have no dates"):
        window(release("2.12.1", None), release("2.13.0", None))


def test_windows_that_overlap_become_one() -> None:
    apart, first, second = Window(day(1, 1), day(1, 5)), Window(day(3, 1), day(3, 9)), Window(day(3, 8), day(4, 1))
    assert merged([second, apart, first]) == (apart, Window(day(3, 1), day(4, 1)))
