"""Ranges that no single variant or Python has all of, and tables that are wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date

from bisect_tool.builds.bounds import select
from bisect_tool.builds.build import Build
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.nightly.tables import Span, VariantRow, read_tables
from tests.builds.nightly.conftest import H200, Serve, channel, day_of, days, wanted
from tests.rig.nightly_index import Missing

AROUND = "2024-10-01", "2025-08-01"


def twice(builds: tuple[Build, ...]) -> list[str]:
    return [day for day, count in Counter(day_of(build) for build in builds).items() if count > 1]


def test_the_range_is_cut_and_the_date_of_the_switch_is_there_for_both(serve: Serve) -> None:
    index = serve(date(2024, 10, 1), date(2025, 8, 1), "cu118", "cu126", "cu128", today=date(2026, 10, 9))
    listing = channel(index).listing(wanted(*AROUND, machine=H200))
    (seam,) = twice(listing.builds)
    older, newer = (build for build in listing.builds if day_of(build) == seam)
    assert (older.variant, newer.variant) == ("cu118", "cu128")
    assert [build.variant for build in listing.builds] == ["cu118"] * listing.builds.index(newer) + ["cu128"] * (
        len(listing.builds) - listing.builds.index(newer)
    )
    assert sorted(set(days(listing))) == days_between(*AROUND)
    assert listing.notes == (
        f"variants cu118 from 2024-10-01 to {seam}, cu128 from {seam} to 2025-08-01, since no single one has builds of all "
        f"these dates; builds of {seam} are listed in both, so that such a change is told from one of the code",
    )
    selection = select(listing, *AROUND)
    assert selection.builds == listing.builds


def days_between(first: str, last: str) -> list[str]:
    return [day.isoformat() for day in Span(date.fromisoformat(first), date.fromisoformat(last)).days()]


def test_a_switch_where_the_middle_is_missing_for_one(serve: Serve) -> None:
    gap = Missing(date(2025, 4, 5), date(2025, 4, 9), variant="cu128")
    index = serve(
        date(2024, 10, 1), date(2025, 8, 1), "cu118", "cu126", "cu128", missing=(gap,), today=date(2026, 10, 9)
    )
    listing = channel(index).listing(wanted(*AROUND, machine=H200))
    assert twice(listing.builds) == ["2025-04-04"]


def test_a_variant_that_the_table_promises_and_nobody_built(serve: Serve) -> None:
    index = serve(date(2024, 10, 1), date(2025, 8, 1), "cu118", "cu126", today=date(2026, 10, 9))
    listing = channel(index).listing(wanted(*AROUND, machine=H200))
    assert {build.variant for build in listing.builds} == {"cu118", "cu126"}
    assert sorted(set(days(listing))) == days_between(*AROUND)


def test_a_variant_that_ended_earlier_than_the_table_says(serve: Serve) -> None:
    gone = Missing(date(2026, 3, 1), date(2026, 12, 1), variant="cu134")
    index = serve(date(2025, 11, 1), date(2026, 2, 20), "cu126", "cu130", missing=(gone,), today=date(2026, 10, 9))
    tables = read_tables()
    early = replace(tables, variants=tuple(_promised(row) for row in tables.variants))
    listing = replace(channel(index), tables=early).listing(wanted("2025-12-01", "2026-02-15", machine=H200))
    assert {build.variant for build in listing.builds} == {"cu130"}
    assert days(listing) == days_between("2025-12-01", "2026-02-15")


def _promised(row: VariantRow) -> VariantRow:
    return replace(row, span=Span(date(2025, 12, 1), row.span.last)) if row.name == "cu134" else row


def test_another_python_for_all_where_one_has_all(serve: Serve) -> None:
    index = serve(date(2024, 9, 1), date(2025, 3, 1), pythons=("cp311", "cp313"), today=date(2026, 10, 9))
    asked = replace(
        wanted("2024-10-01", "2025-02-01"), target=target_for("3.13.1"), other_targets=(target_for("3.11.7"),)
    )
    listing = channel(index).listing(asked)
    assert {build.python for build in listing.builds} == {"3.11.7"}
    assert listing.notes == (
        "variant cpu, since the device is the CPU",
        "Python 3.11.7, since 3.13.1 does not have builds of all these dates",
    )


def test_pythons_are_cut_where_none_has_all(serve: Serve) -> None:
    index = serve(date(2024, 5, 1), date(2025, 3, 1), pythons=("cp38", "cp313"), today=date(2026, 10, 9))
    asked = replace(
        wanted("2024-07-01", "2025-02-01"),
        target=target_for("3.13.1"),
        other_targets=(target_for("3.8.18"), target_for("3.12.1")),
    )
    listing = channel(index).listing(asked)
    pythons = dict.fromkeys(build.python for build in listing.builds)
    assert list(pythons) == ["3.8.18", None]
    assert days(listing)[0] == "2024-07-01"
    assert days(listing)[-1] == "2025-02-01"


def test_a_variant_that_is_listed_longer_than_the_table_knows(serve: Serve) -> None:
    index = serve(date(2026, 7, 1), date(2026, 10, 5), "cu126", "cu130")
    asked = wanted("2026-08-01", "2026-10-05", machine=replace(H200, driver="560.28.03"))
    listing = channel(index).listing(asked)
    assert {build.variant for build in listing.builds} == {"cu126"}
    assert days(listing) == days_between("2026-08-01", "2026-10-05")


def test_a_table_of_versions_that_nobody_kept_up(serve: Serve) -> None:
    index = serve(date(2026, 1, 1), date(2026, 10, 9))
    tables = read_tables()
    old = replace(tables, versions=tuple(row for row in tables.versions if row.first < date(2026, 1, 1)))
    assert str(old.versions[-1].version) == "2.11.0"
    listing = replace(channel(index), tables=old).listing(wanted("2026-01-01", "2026-10-09"))
    assert days(listing) == days_between("2026-01-01", "2026-10-09")
    assert index.requests.counts()[("HEAD", "file")] < 2 * 282


def test_variants_that_overlap_only_outside_of_what_the_table_knows(serve: Serve) -> None:
    index = serve(date(2025, 10, 1), date(2026, 10, 9), "cu128", "cu132")  # cu128 really ends on 2026-04-06
    listing = channel(index).listing(wanted("2025-12-01", "2026-10-09", machine=H200))
    assert sorted(set(days(listing))) == days_between("2025-12-01", "2026-10-09")
    assert listing.left_out == ()
    (seam,) = twice(listing.builds)
    assert "2026-04-01" <= seam <= "2026-04-06"


def test_variants_with_a_hole_between_them(serve: Serve) -> None:
    gone = Missing(date(2026, 3, 21), date(2026, 4, 9))
    index = serve(date(2025, 10, 1), date(2026, 10, 9), "cu128", "cu132", missing=(gone,))
    listing = channel(index).listing(wanted("2025-12-01", "2026-10-09", machine=H200))
    assert twice(listing.builds) == []
    there = set(days_between("2025-12-01", "2026-10-09")) - set(days_between("2026-03-21", "2026-04-09"))
    assert set(days(listing)) == there
    assert [left.version for left in listing.left_out][:2] == ["2.12.0.dev20260321+cu132", "2.12.0.dev20260322+cu132"]
    assert len(listing.left_out) == 20


def test_variants_that_are_not_there_cost_a_sample_each(serve: Serve) -> None:
    index = serve(date(2025, 10, 1), date(2026, 10, 9), "cu128", "cu132")
    channel(index).listing(wanted("2025-12-01", "2026-10-09", machine=H200))
    assert index.requests.counts()[("HEAD", "file")] < 2 * 313
