from __future__ import annotations

from datetime import date

import pytest

from bisect_tool.builds.nightly.dates import first_date, last_date, variant_in
from bisect_tool.builds.nightly.tables import Tables
from bisect_tool.errors import BoundError

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-01", date(2026, 3, 1), date(2026, 3, 1)),
        ("20260301", date(2026, 3, 1), date(2026, 3, 1)),
        ("2026-03-01T12", date(2026, 3, 1), date(2026, 3, 1)),
        ("2.13.0.dev20260520", date(2026, 5, 20), date(2026, 5, 20)),
        ("2.13.0.dev20260520+cu130", date(2026, 5, 20), date(2026, 5, 20)),
        ("2.12", date(2026, 2, 15), date(2026, 4, 17)),  # the seams on both sides, until the builds tell more
        ("2.12.1", date(2026, 2, 15), date(2026, 4, 17)),
        ("2.16", date(2026, 10, 5), TODAY),
        ("2.17", date(2026, 10, 6), TODAY),
        ("2027-01-01", date(2027, 1, 1), TODAY),
    ],
)
def test_bounds(tables: Tables, text: str, first: date, last: date) -> None:
    assert first_date(tables, text) == first
    assert last_date(tables, text, TODAY) == last


def test_without_bounds(tables: Tables) -> None:
    assert first_date(tables, None) is None
    assert last_date(tables, None, TODAY) == TODAY


def test_before_the_table(tables: Tables) -> None:
    assert first_date(tables, "1.13") == tables.begin
    assert first_date(tables, "2019-01-01") == tables.begin
    with pytest.raises(BoundError, match="known from 2023-04-01 on"):
        last_date(tables, "1.13", TODAY)


def test_a_commit_is_no_bound(tables: Tables) -> None:
    with pytest.raises(BoundError, match="a commit cannot be a bound here"):
        first_date(tables, "aed20b1240f5fee4b93227769c79414f66b62ced")


def test_a_variant_in_a_bound() -> None:
    assert variant_in("2.13.0.dev20260520+cu130", "2026-06-01") == "cu130"
    assert variant_in("2.13.0.dev20260520+cu130", "2.13.0.dev20260620+cu130") == "cu130"
    assert variant_in("2.13.0.dev20260520+cu130", "2.13.0.dev20260620+cu126") is None
    assert variant_in("2026-05-20", None) is None
