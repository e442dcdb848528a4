from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bisect_tool.builds.bounds import Selection, between_left_out, select
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing
from bisect_tool.errors import BoundError, EmptyRange

RELEASES = {
    "2.10.0": "2026-01-10",
    "2.11.0": "2026-03-10",
    "2.11.1": "2026-04-20",
    "2.12.0": "2026-05-10",
    "2.13.0": "2026-07-10",
}
NIGHTLIES = {
    "0.8.dev20260301040000": "2026-03-01T04:00",
    "0.8.dev20260301160000": "2026-03-01T16:00",
    "0.8.dev20260303": "2026-03-03",
    "0.9.dev20260304": "2026-03-04",
    "0.8.1": "2026-03-05T10:00",
    "0.9.dev20260306": "2026-03-06",
}


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def listing(dates: dict[str, str], *left_out: LeftOut, dated: bool = False) -> Listing:
    builds = (Build("a", version, f"a-{version}.whl", "x", moment(date)) for version, date in dates.items())
    return Listing(tuple(builds), left_out, "here", dated=dated)


def chosen(selection: Selection) -> list[str]:
    return [build.version for build in selection.builds]


def releases(from_: str | None, to: str | None) -> list[str]:
    return chosen(select(listing(RELEASES), from_, to))


def nightlies(from_: str | None, to: str | None) -> list[str]:
    return chosen(select(listing(NIGHTLIES, dated=True), from_, to))


YANKED = LeftOut("2.12.1", moment("2026-06-01"), LeftOutBecause.YANKED, "broken pin")


def test_versions() -> None:
    assert releases("2.11.0", "2.12.0") == ["2.11.0", "2.11.1", "2.12.0"]


def test_short_versions_are_the_same_versions() -> None:
    assert releases("2.11", "v2.12") == ["2.11.0", "2.11.1", "2.12.0"]


def test_open_ends() -> None:
    whole = select(listing(RELEASES), None, None)
    assert chosen(whole) == list(RELEASES)
    assert whole.open_start
    assert not select(listing(RELEASES), "2.11", None).open_start


def test_a_bound_that_exists_needs_no_note() -> None:
    assert select(listing(RELEASES), "2.11", "2026-07-10").notes == ()


def test_a_version_without_a_build_moves_inwards() -> None:
    selection = select(listing(RELEASES), "2.10.5", "2.12.9")
    assert chosen(selection) == ["2.11.0", "2.11.1", "2.12.0"]
    assert selection.notes == (
        "from 2.10.5: no such build, the first one inside is 2.11.0 of 2026-03-10",
        "to 2.12.9: no such build, the last one inside is 2.12.0 of 2026-05-10",
    )


def test_dates_count_whole_days() -> None:
    assert nightlies("2026-03-01", "2026-03-01") == ["0.8.dev20260301040000", "0.8.dev20260301160000"]
    assert nightlies("20260303", "2026-03-05") == ["0.8.dev20260303", "0.9.dev20260304", "0.8.1"]


def test_times_count_whole_hours() -> None:
    assert nightlies("2026-03-01T05", "2026-03-03T00") == ["0.8.dev20260301160000", "0.8.dev20260303"]
    assert nightlies("2026-03-01T04", "2026-03-01T16") == ["0.8.dev20260301040000", "0.8.dev20260301160000"]


def test_times_with_a_zone() -> None:
    assert nightlies("2026-03-01T18:00+02:00", "2026-03-03T00Z") == ["0.8.dev20260301160000", "0.8.dev20260303"]


def test_a_date_without_a_build_moves_inwards() -> None:
    selection = select(listing(NIGHTLIES, dated=True), "2026-03-02", None)
    moved = "from 2026-03-02: no build of that time, the first one inside is 0.8.dev20260303 of 2026-03-03"
    assert selection.notes == (moved,)


def test_a_version_in_a_stream_is_its_place_in_time() -> None:
    assert nightlies("0.9.dev20260304", None) == ["0.9.dev20260304", "0.8.1", "0.9.dev20260306"]
    assert nightlies(None, "0.8.1")[-2:] == ["0.9.dev20260304", "0.8.1"]


def test_a_missing_version_in_a_stream_is_placed_by_its_date() -> None:
    assert nightlies("0.9.dev20260302", "0.8.dev20260304120000") == ["0.8.dev20260303", "0.9.dev20260304"]


def test_a_missing_version_without_a_date_moves_inwards_in_a_stream() -> None:
    assert nightlies("0.8.5", None) == ["0.9.dev20260304", "0.8.1", "0.9.dev20260306"]
    assert nightlies(None, "0.8") == ["0.8.dev20260301040000", "0.8.dev20260301160000", "0.8.dev20260303"]


def test_versions_and_dates_mix() -> None:
    assert releases("2026-03-01", "2.12") == ["2.11.0", "2.11.1", "2.12.0"]
    assert releases("2.11.1", "2026-05-10") == ["2.11.1", "2.12.0"]


def test_a_label_is_not_needed() -> None:
    labelled = listing({f"{version}+cu130": date for version, date in RELEASES.items()})
    selection = select(labelled, "2.11", "2.12")
    assert chosen(selection) == ["2.11.0+cu130", "2.11.1+cu130", "2.12.0+cu130"]
    assert selection.notes == ()


def test_an_exact_version_ends_where_it_says() -> None:
    both = listing({"1.0": "2026-01-01", "2.0": "2026-02-01", "2.0+cpu": "2026-02-01"})
    assert chosen(select(both, "1.0", "2.0")) == ["1.0", "2.0"]
    assert chosen(select(both, "1.0", "2.0+cpu")) == ["1.0", "2.0", "2.0+cpu"]


def test_a_version_that_looks_like_a_date_is_a_version_where_it_exists() -> None:
    odd = listing({"20260101": "2020-01-01", "20260102": "2020-01-02", "20260103": "2020-01-03"})
    assert chosen(select(odd, "20260102", None)) == ["20260102", "20260103"]


def test_a_yanked_bound_says_why() -> None:
    selection = select(listing(RELEASES, YANKED), "2.11", "2.12.1")
    assert selection.notes == (
        "to 2.12.1: that version is yanked (broken pin), the last one inside is 2.12.0 of 2026-05-10",
    )
    assert selection.left_out == (YANKED,)


def test_a_left_out_day_says_why() -> None:
    missing = LeftOut("0.8.dev20260302", moment("2026-03-02"), LeftOutBecause.NO_WHEEL)
    selection = select(listing(NIGHTLIES, missing, dated=True), "2026-03-02", None)
    assert selection.notes[0].startswith(
        "from 2026-03-02: 0.8.dev20260302 is without a wheel for this Python and platform,"
    )


def test_only_what_lies_inside_is_reported_as_left_out() -> None:
    outside = LeftOut("2.9.0", moment("2025-10-01"), LeftOutBecause.YANKED)
    assert select(listing(RELEASES, outside, YANKED), "2.11", None).left_out == (YANKED,)


def test_left_out_between_two_builds() -> None:
    selection = select(listing(RELEASES, YANKED), "2.11", None)
    first, second, third, fourth = selection.builds
    assert between_left_out(selection, third, fourth) == (YANKED,)
    assert between_left_out(selection, second, third) == ()
    assert between_left_out(selection, first, fourth) == (YANKED,)


def test_left_out_between_two_builds_of_a_stream_goes_by_date() -> None:
    hole = LeftOut("0.7.dev20260302", moment("2026-03-02"), LeftOutBecause.YANKED, "bad")
    selection = select(listing(NIGHTLIES, hole, dated=True), None, None)
    assert between_left_out(selection, *selection.builds[1:3]) == (hole,)
    assert between_left_out(selection, *selection.builds[0:2]) == ()


def test_builds_passed_over_by_their_date_are_told() -> None:
    backport = {"1.9.1": "2026-05-01", "2.0": "2026-01-01", "2.1": "2026-06-01"}
    selection = select(listing(backport), "2026-04-01", None)
    assert chosen(selection) == ["1.9.1", "2.1"]
    assert between_left_out(selection, *selection.builds) == (
        LeftOut("2.0", moment("2026-01-01"), LeftOutBecause.DATE),
    )
    assert selection.notes[-1] == "2.0: among these versions, but not of the dates asked for"


def test_a_yanked_version_between_builds_is_told_whatever_its_date() -> None:
    late = LeftOut("2.11.5", moment("2027-01-01"), LeftOutBecause.YANKED)
    assert select(listing(RELEASES, late), "2026-03-10", "2026-07-10").left_out == (late,)


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "",
        "  ",
        "1f3870be274f6c49b3e31a0c6728957f",
        "1234567",
        "12a3456",
        "2026-13-01",
        "2026-03",
        "latest",
        "2.11.*",
        "2026/03/01",
        "20261399",
    ],
)
def test_nonsense_is_refused_with_what_is_accepted(text: str) -> None:
    with pytest.raises(BoundError, match=r"Give a date \(2026-03-01, 20260301, 2026-03-01T12\) or a version"):
        releases(text, None)


@pytest.mark.parametrize(
    ("from_", "to"),
    [
        ("2.12", "2.11"),
        ("2.12.5", "2.11.5"),
        ("2026-05-02", "2026-05-01"),
        ("2026-06-01", "2.12"),
        ("2.12", "2026-05-09"),
    ],
)
def test_from_after_to(from_: str, to: str) -> None:
    with pytest.raises(BoundError, match="is after to"):
        releases(from_, to)


@pytest.mark.parametrize(
    ("from_", "to"), [("0.8.1", "0.9.dev20260304"), ("0.8.dev20260305", "0.9.dev20260302"), ("0.9.9", "0.9.2")]
)
def test_from_after_to_in_a_stream(from_: str, to: str) -> None:
    with pytest.raises(BoundError, match="is after to"):
        nightlies(from_, to)


def test_a_date_needs_dates() -> None:
    undated = Listing((Build("a", "1.0", "x", "x"), Build("a", "2.0", "x", "x")), (), "here")
    with pytest.raises(BoundError, match="from 2026-01-01: the builds have no dates here"):
        select(undated, "2026-01-01", None)
    assert chosen(select(undated, "1.0", None)) == ["1.0", "2.0"]


def test_no_build_inside_names_the_nearest() -> None:
    with pytest.raises(EmptyRange, match=r"the nearest are 2\.11\.1 of 2026-04-20 and 2\.12\.0 of 2026-05-10"):
        releases("2.11.2", "2.11.9")
    with pytest.raises(EmptyRange, match=r"the nearest is 2\.13\.0 of 2026-07-10"):
        releases("2.14", None)
    with pytest.raises(EmptyRange, match=r"the nearest is 2\.10\.0 of 2026-01-10"):
        releases(None, "2025-01-01")


def test_one_build_is_no_range() -> None:
    with pytest.raises(EmptyRange, match=r"only one build lies in the range .*: 2\.11\.0 of 2026-03-10"):
        releases("2.11", "2.11")
    with pytest.raises(EmptyRange, match="earlier `from` or a later `to`"):
        releases("2.13", None)


def test_an_empty_range_says_what_was_left_out() -> None:
    with pytest.raises(EmptyRange, match=r"to 2\.12\.1: that version is yanked \(broken pin\)"):
        select(listing(RELEASES, YANKED), "2.12", "2.12.1")


def test_a_release_in_a_dated_stream_is_all_of_its_nightlies() -> None:
    assert nightlies("0.8", "0.9") == list(NIGHTLIES)
    assert nightlies(None, "0.8") == list(NIGHTLIES)[:3]
    assert nightlies("0.9", None) == list(NIGHTLIES)[3:]


def test_a_release_that_is_there_is_meant_itself() -> None:
    assert nightlies("0.8.1", None) == list(NIGHTLIES)[4:]


def test_a_release_whose_nightlies_began_earlier_than_the_other_bound() -> None:
    assert nightlies("2026-03-01T12", "0.8") == list(NIGHTLIES)[1:3]
