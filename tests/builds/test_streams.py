from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from packaging.tags import Tag

from bisect_tool.builds.build import LeftOut, LeftOutBecause, Target, Wanted
from bisect_tool.builds.streams import FoundFile, listing_of

TARGET = Target("3.11.7", (Tag("cp311", "cp311", "linux_x86_64"), Tag("py3", "none", "any")))


def wheel(name_version: str, *, uploaded: str | None = None, tag: str = "py3-none-any", **rest: Any) -> FoundFile:
    filename = f"some_package-{name_version}-{tag}.whl"
    time = datetime.fromisoformat(uploaded).replace(tzinfo=UTC) if uploaded else None
    return FoundFile(filename, f"http://example.org/{filename}", uploaded=time, **rest)


def listed(files: Iterable[FoundFile], *, pre: bool = False, yanked: bool = False) -> list[str]:
    listing = listing_of(files, Wanted("some-package", TARGET, pre=pre, yanked=yanked), "here")
    return [build.version for build in listing.builds]


def left_out(files: Iterable[FoundFile]) -> tuple[LeftOut, ...]:
    return listing_of(files, Wanted("Some_Package", TARGET), "here").left_out


def test_releases_are_in_the_order_of_versions_not_of_uploads() -> None:
    files = [
        wheel("2.0", uploaded="2026-02-01"),
        wheel("1.10", uploaded="2026-01-01"),
        wheel("1.9.1", uploaded="2026-03-01"),
    ]
    assert listed(files) == ["1.9.1", "1.10", "2.0"]


def test_the_date_of_a_release_is_its_upload() -> None:
    listing = listing_of([wheel("2.0", uploaded="2026-02-01T10:00")], Wanted("some-package", TARGET), "here")
    assert listing.builds[0].date == datetime(2026, 2, 1, 10, tzinfo=UTC)
    assert not listing.dated
    assert listing.has_upload_times


def test_a_stream_is_in_the_order_of_dates_with_its_pre_releases() -> None:
    files = [
        wheel("0.9.dev20260103", uploaded="2026-01-03"),
        wheel("0.8.dev20260101", uploaded="2026-01-01"),
        wheel("0.8", uploaded="2026-01-04T12:00"),
        wheel("0.8.dev20260105", uploaded="2026-01-05"),
    ]
    listing = listing_of(files, Wanted("some-package", TARGET), "here")
    assert listing.dated
    assert [b.version for b in listing.builds] == ["0.8.dev20260101", "0.9.dev20260103", "0.8", "0.8.dev20260105"]


def test_several_builds_of_a_day_are_several_builds() -> None:
    files = [wheel("1.dev20260101120000"), wheel("1.dev20260101090000"), wheel("1.dev20260102000000")]
    assert listed(files) == ["1.dev20260101090000", "1.dev20260101120000", "1.dev20260102000000"]


def test_two_versions_of_one_day_are_in_the_order_of_versions() -> None:
    files = [wheel("2.16.0.dev20261005"), wheel("2.15.0.dev20261005"), wheel("2.15.0.dev20261004")]
    assert listed(files) == ["2.15.0.dev20261004", "2.15.0.dev20261005", "2.16.0.dev20261005"]


def test_half_is_no_majority() -> None:
    assert listed([wheel("1.dev20260101"), wheel("1.0")]) == ["1.0"]


def test_a_stream_where_one_build_has_no_date_keeps_the_order_of_versions() -> None:
    files = [wheel("1.dev20260102"), wheel("2.dev20260101"), wheel("1.5")]
    listing = listing_of(files, Wanted("some-package", TARGET), "here")
    assert [build.version for build in listing.builds] == ["1.dev20260102", "1.5", "2.dev20260101"]
    assert not listing.dated


def test_calendar_versions_are_a_stream() -> None:
    files = [wheel("2026.10.15", uploaded="2026-10-15T20:00"), wheel("2026.9.1", uploaded="2026-09-01")]
    listing = listing_of(files, Wanted("some-package", TARGET), "here")
    assert listing.dated
    assert listing.builds[-1].date == datetime(2026, 10, 15, tzinfo=UTC)


def test_year_month_and_counter_is_no_calendar_version() -> None:
    files = [wheel("2026.3.1", uploaded="2026-03-20"), wheel("2026.3.2", uploaded="2026-03-28")]
    listing = listing_of(files, Wanted("some-package", TARGET), "here")
    assert not listing.dated
    assert listing.builds[0].date == datetime(2026, 3, 20, tzinfo=UTC)


def test_yanked_versions_are_left_out_with_the_reason() -> None:
    files = [wheel("1.0"), wheel("1.1", uploaded="2026-01-02", yanked="broken pin")]
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    assert left_out(files) == (LeftOut("1.1", moment, LeftOutBecause.YANKED, "broken pin"),)
    assert listed(files) == ["1.0"]
    assert listed(files, yanked=True) == ["1.0", "1.1"]


def test_a_yank_without_a_reason_is_a_yank() -> None:
    assert listed([wheel("1.0"), wheel("1.1", yanked="")]) == ["1.0"]


def test_a_yanked_file_is_replaced_by_another_of_the_version() -> None:
    better = wheel("1.0", tag="cp311-cp311-linux_x86_64", yanked="broken")
    listing = listing_of([better, wheel("1.0")], Wanted("some-package", TARGET), "here")
    assert [build.filename for build in listing.builds] == ["some_package-1.0-py3-none-any.whl"]


def test_pre_releases_are_left_out_unless_wanted() -> None:
    files = [wheel("1.0"), wheel("1.1rc1"), wheel("1.1.dev3")]
    assert [left.because for left in left_out(files)] == [LeftOutBecause.PRE_RELEASE] * 2
    assert listed(files) == ["1.0"]
    assert listed(files, pre=True) == ["1.0", "1.1.dev3", "1.1rc1"]


def test_versions_without_a_wheel_say_what_they_have() -> None:
    source = FoundFile("some_package-1.0.tar.gz", "http://example.org/x", version="1.0")
    files = [source, wheel("1.1", tag="cp311-cp311-win_amd64"), wheel("1.2")]
    assert left_out(files) == (
        LeftOut("1.0", None, LeftOutBecause.NO_WHEEL, "only source archives"),
        LeftOut("1.1", None, LeftOutBecause.NO_WHEEL, "wheels for win_amd64"),
    )


def test_versions_for_other_pythons_say_for_which() -> None:
    other = [wheel("1.1", tag="cp312-cp312-linux_x86_64"), wheel("1.1", tag="cp39-cp39-linux_x86_64")]
    files = [wheel("1.0", requires_python=">=3.12"), *other]
    assert left_out(files) == (
        LeftOut("1.0", None, LeftOutBecause.PYTHON, "needs Python >=3.12"),
        LeftOut("1.1", None, LeftOutBecause.PYTHON, "wheels for cp39, cp312"),
    )


def test_files_that_belong_to_nothing_are_passed_over() -> None:
    files = [
        wheel("1.0"),
        FoundFile("some_package-one.whl", "x", version="2.0"),
        FoundFile("some_package-old.zip", "x", version="old"),
        FoundFile("other-3.0-py3-none-any.whl", "x"),
        FoundFile("README.html", "x"),
    ]
    assert listed(files) == ["1.0"]
    assert left_out(files) == ()


def test_the_version_is_spelled_as_the_index_does() -> None:
    assert listed([wheel("2022.09.24", version="2022.9.24")]) == ["2022.9.24"]
    assert listed([wheel("2022.09.24")]) == ["2022.09.24"]


def test_the_variant_is_the_label() -> None:
    listing = listing_of([wheel("2.13.0+cu126")], Wanted("some-package", TARGET), "here")
    assert listing.builds[0].variant == "cu126"


def test_missing_upload_times_are_told() -> None:
    assert not listing_of([wheel("1.0")], Wanted("some-package", TARGET), "here").has_upload_times
    assert not listing_of([], Wanted("some-package", TARGET), "here").has_upload_times
