from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from bisect_tool.builds.bounds import select
from bisect_tool.builds.build import Build, Listing
from bisect_tool.errors import BoundError, EmptyRange

START = datetime(2026, 1, 1, tzinfo=UTC)
numbers = st.sets(st.integers(0, 60), max_size=25)
optional = st.none() | st.integers(-2, 62)


def releases(minors: set[int]) -> Listing:
    builds = [Build("a", f"1.{n}.0", "x", "x", START + timedelta(days=n)) for n in sorted(minors)]
    return Listing(tuple(builds), (), "here")


def nightlies(days: set[int]) -> Listing:
    dates = [START + timedelta(days=n) for n in sorted(days)]
    return Listing(tuple(Build("a", f"1.0.dev{d:%Y%m%d}", "x", "x", d) for d in dates), (), "here", dated=True)


def expected(have: set[int], low: int | None, high: int | None) -> list[int]:
    return [n for n in sorted(have) if (low is None or n >= low) and (high is None or n <= high)]


def selected(listing: Listing, low: str | None, high: str | None) -> list[str] | type[Exception]:
    try:
        return [build.version for build in select(listing, low, high).builds]
    except (BoundError, EmptyRange) as error:
        return type(error)


@given(numbers, optional.filter(lambda n: n is None or n >= 0), optional.filter(lambda n: n is None or n >= 0))
def test_version_bounds_take_exactly_what_is_between(have: set[int], low: int | None, high: int | None) -> None:
    found = selected(releases(have), None if low is None else f"1.{low}", None if high is None else f"1.{high}")
    inside = [f"1.{n}.0" for n in expected(have, low, high)]
    if low is not None and high is not None and low > high:
        assert found is BoundError
    else:
        assert found == (inside if len(inside) > 1 else EmptyRange)


@given(numbers.filter(bool), optional, optional)
def test_date_bounds_take_exactly_what_is_between(have: set[int], low: int | None, high: int | None) -> None:
    texts = [None if n is None else f"{START + timedelta(days=n):%Y-%m-%d}" for n in (low, high)]
    found = selected(nightlies(have), *texts)
    inside = [f"1.0.dev{START + timedelta(days=n):%Y%m%d}" for n in expected(have, low, high)]
    if low is not None and high is not None and low > high:
        assert found is BoundError
    else:
        assert found == (inside if len(inside) > 1 else EmptyRange)


@given(numbers.filter(bool), optional, optional)
def test_in_a_stream_a_version_is_as_good_as_its_date(have: set[int], low: int | None, high: int | None) -> None:
    listing = nightlies(have)
    dates = [None if n is None else f"{START + timedelta(days=n):%Y%m%d}" for n in (low, high)]
    versions = [None if date is None else f"1.0.dev{date}" for date in dates]
    assert selected(listing, *versions) == selected(listing, *dates)


@given(st.text(max_size=25), st.text(max_size=25))
def test_any_text_gives_builds_or_one_of_two_errors(low: str, high: str) -> None:
    found = selected(releases({1, 2, 3}), low, high)
    assert found in (BoundError, EmptyRange) or isinstance(found, list)


@given(st.permutations(range(6)), st.integers(0, 5), st.integers(0, 5))
def test_releases_out_of_time_stay_in_order_and_none_vanishes(days: list[int], low: int, high: int) -> None:
    builds = tuple(Build("a", f"1.{n}", "x", "x", START + timedelta(days=day)) for n, day in enumerate(days))
    low, high = min(low, high), max(low, high)
    texts = [f"{START + timedelta(days=n):%Y-%m-%d}" for n in (low, high)]
    try:
        selection = select(Listing(builds, (), "here"), *texts)
    except EmptyRange:
        assert low == high
        return
    taken = [build.version for build in selection.builds]
    passed = [left.version for left in selection.left_out]
    assert len(taken) == high - low + 1
    assert taken == sorted(taken, key=Version)
    between = [build.version for build in builds if Version(taken[0]) <= Version(build.version) <= Version(taken[-1])]
    assert sorted(taken + passed) == sorted(between)
