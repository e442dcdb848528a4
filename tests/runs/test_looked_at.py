from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bisect_tool.builds.bounds import Selection, select
from bisect_tool.builds.build import Build, Listing
from bisect_tool.errors import BoundError
from bisect_tool.runs.looked_at import looked_at


def range_of(*versions: str, dated: bool = False) -> tuple[Listing, Selection]:
    builds = tuple(
        Build("toy", version, f"toy-{version}.whl", "here", date=datetime(2026, 3, day, 12, tzinfo=UTC))
        for day, version in zip((1, 2, 2, 4), versions, strict=True)
    )
    listing = Listing(builds, (), "an index", dated=dated)
    return listing, select(listing, None, None)


RELEASES = range_of("8.1.8", "8.2.0", "8.2.1", "8.10")


@pytest.mark.parametrize(
    ("text", "number"), [("8.2.0", 1), ("8.2", 1), ("8.10", 3), ("2026-03-01", 0), ("2026-03-02", 2)]
)
def test_a_build_is_named_by_version_or_date(text: str, number: int) -> None:
    assert looked_at((text,), *RELEASES) == ((number,), ())


def test_several_come_in_the_order_of_the_builds_and_each_once() -> None:
    assert looked_at(("8.10", "8.2.0", "8.2"), *RELEASES) == ((1, 3), ())


def test_what_names_no_build_of_the_range_is_told() -> None:
    assert looked_at(("8.3.0", "8.2.1", "2026-03-03"), *RELEASES) == ((2,), ("8.3.0", "2026-03-03"))


def test_a_nightly_is_named_by_its_whole_version() -> None:
    nightlies = range_of("1.0.dev20260301", "1.0.dev20260302", "1.0.dev20260303", "1.0.dev20260304", dated=True)
    assert looked_at(("1.0.dev20260302",), *nightlies) == ((1,), ())


def test_a_text_that_is_neither_version_nor_date_is_a_mistake() -> None:
    with pytest.raises(BoundError, match="not a date or a version"):
        looked_at(("the newest",), *RELEASES)
