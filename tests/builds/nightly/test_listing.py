"""The channel against the rig of nightlies, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bisect_tool.builds.bounds import select
from bisect_tool.builds.build import LeftOutBecause, Machine
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.errors import BoundError, PackageNotFound, SettingError
from tests.builds.nightly.conftest import H200, Serve, channel, day_of, days, versions, wanted
from tests.rig.nightly_index import Hrefs, Missing

YEAR = date(2025, 10, 9), date(2026, 10, 9)


def test_a_year_costs_about_one_request_a_date_and_nothing_the_second_time(serve: Serve, tmp_path: Path) -> None:
    index = serve(*YEAR, "cpu", "cu130")
    listing = channel(index, tmp_path).listing(wanted("2025-10-09", "2026-10-09"))
    assert len(listing.builds) == 366
    assert listing.left_out == ()
    assert sum(build.hidden for build in listing.builds) == 306
    first = index.requests.counts()
    assert first[("GET", "page")] == 1
    assert first[("HEAD", "file")] <= 315
    index.requests.clear()
    assert channel(index, tmp_path).listing(wanted("2025-10-09", "2026-10-09")) == listing
    assert index.requests.counts() == {("GET", "page"): 1}


@pytest.mark.parametrize("variant", ["cpu", "cu118"])
def test_a_year_with_changes_of_names_stays_below_two_requests_a_date(serve: Serve, variant: str) -> None:
    index = serve(date(2024, 5, 1), date(2025, 5, 1), variant, seed=3, today=date(2026, 10, 9))
    listing = channel(index).listing(wanted("2024-05-01", "2025-05-01", variant=variant))
    assert len(listing.builds) == 366
    assert index.requests.counts()[("HEAD", "file")] < 2 * 366


def test_a_hidden_build(serve: Serve) -> None:
    index = serve(date(2026, 1, 1), date(2026, 10, 9), "cu130")
    (build,) = channel(index).listing(wanted("2026-03-03", "2026-03-03", variant="cu130")).builds
    wheel = index.torch(date(2026, 3, 3), "cu130")
    assert build.version == "2.12.0.dev20260303+cu130"
    assert build.location == index.url(wheel)
    assert build.date == datetime(2026, 3, 3, tzinfo=UTC)
    assert build.size == index.body(wheel).size
    assert (build.variant, build.hidden, build.python, build.sha256) == ("cu130", True, None, None)
    assert build.fingerprint == f"modified:{wheel.uploaded:%Y-%m-%dT%H:%M:%SZ}"


def test_a_listed_build_comes_from_the_host_that_the_page_names(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9), "cu130")
    (build,) = channel(index).listing(wanted("2026-10-01", "2026-10-01", variant="cu130")).builds
    wheel = index.torch(date(2026, 10, 1), "cu130")
    assert build.location == index.url(wheel, r2=True)
    assert (build.hidden, build.variant) == (False, "cu130")


@pytest.mark.parametrize("hrefs", Hrefs)
def test_a_build_keeps_its_identity_when_it_is_no_longer_listed(serve: Serve, hrefs: Hrefs) -> None:
    index = serve(date(2026, 6, 1), date(2026, 10, 9), today=date(2026, 7, 20), hrefs=hrefs)
    asked = wanted("2026-07-01", "2026-07-20")
    listed = channel(index).listing(asked).builds
    index.today = date(2026, 10, 9)
    hidden = channel(index).listing(asked).builds
    assert {build.hidden for build in listed} == {False}
    assert {build.hidden for build in hidden} == {True}
    assert [build.identity for build in listed] == [build.identity for build in hidden]


def test_times_of_the_page_spare_requests_where_they_are_right(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9))
    channel(index).listing(wanted("2026-09-01", "2026-10-09"))
    assert index.requests.counts() == {("GET", "page"): 1, ("HEAD", "file"): 2}


def test_times_of_the_page_are_not_taken_where_they_are_wrong(serve: Serve, tmp_path: Path) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9))
    before = channel(index).listing(wanted("2026-09-01", "2026-10-09")).builds
    index.now += timedelta(minutes=10)  # the page is made once an hour
    index.replace("torch-*20261009*", changes=())
    after = channel(index, tmp_path).listing(wanted("2026-09-01", "2026-10-09")).builds
    assert [day_of(a) for a, b in zip(after, before, strict=True) if a.identity != b.identity] == ["2026-10-09"]


def test_without_times_every_listed_file_is_asked_for(serve: Serve) -> None:
    index = serve(date(2026, 2, 1), date(2026, 3, 1))
    listing = channel(index).listing(wanted("2026-02-01", "2026-03-01"))
    assert {build.hidden for build in listing.builds} == {False}
    assert index.requests.counts() == {("GET", "page"): 1, ("HEAD", "file"): 29}
    assert all(build.size for build in listing.builds)


def test_missing_dates_are_told(serve: Serve) -> None:
    gaps = (Missing(date(2026, 3, 5), date(2026, 3, 6)), Missing(date(2026, 10, 1)))
    index = serve(date(2026, 3, 1), date(2026, 10, 9), missing=gaps)
    listing = channel(index).listing(wanted("2026-03-01", "2026-10-09"))
    assert [(left.version, left.because) for left in listing.left_out] == [
        ("2.12.0.dev20260305+cpu", LeftOutBecause.MISSING),
        ("2.12.0.dev20260306+cpu", LeftOutBecause.MISSING),
        ("2.15.0.dev20261001+cpu", LeftOutBecause.MISSING),
    ]
    assert listing.left_out[0].date == datetime(2026, 3, 5, tzinfo=UTC)


def test_a_missing_date_at_a_bound(serve: Serve) -> None:
    index = serve(date(2026, 3, 1), date(2026, 10, 9), missing=(Missing(date(2026, 3, 5)),))
    listing = channel(index).listing(wanted("2026-03-05", "2026-03-10"))
    selection = select(listing, "2026-03-05", "2026-03-10")
    assert selection.notes == (
        "from 2026-03-05: 2.12.0.dev20260305+cpu is missing, the first one inside is 2.12.0.dev20260306+cpu of 2026-03-06",
    )


def test_missing_dates_are_asked_again_by_and_by(serve: Serve, tmp_path: Path) -> None:
    index = serve(date(2026, 3, 1), date(2026, 10, 9), missing=(Missing(date(2026, 3, 5)), Missing(date(2026, 10, 8))))

    def heads_after(pause: timedelta) -> int:
        index.now += pause
        index.requests.clear()
        channel(index, tmp_path).listing(wanted("2026-03-01", "2026-10-09"))
        return index.requests.counts().get(("HEAD", "file"), 0)

    assert heads_after(timedelta()) > 160
    assert heads_after(timedelta(minutes=50)) == 0
    assert heads_after(timedelta(minutes=20)) == 1  # the recent one
    assert heads_after(timedelta(days=8)) >= 2


def test_a_nightly_of_today_that_is_not_there_yet_is_not_missing(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 8), today=date(2026, 10, 9))
    listing = channel(index).listing(wanted("2026-10-01", None))
    assert (days(listing)[-1], listing.left_out) == ("2026-10-08", ())


def test_a_version_is_all_of_its_nightlies(serve: Serve) -> None:
    index = serve(date(2026, 2, 1), date(2026, 10, 9))
    selection = select(channel(index).listing(wanted("2.12", "2.13")), "2.12", "2.13")
    assert [build.version for build in (selection.builds[0], selection.builds[-1])] == [
        "2.12.0.dev20260216+cpu",
        "2.13.0.dev20260611+cpu",
    ]
    assert selection.notes == ()


def test_a_nightly_by_its_version(serve: Serve) -> None:
    index = serve(date(2026, 2, 1), date(2026, 10, 9), "cpu", "cu126", "cu130")
    from_, to = "2.13.0.dev20260520+cu126", "2.13.0.dev20260525"
    listing = channel(index).listing(wanted(from_, to, machine=H200))
    selection = select(listing, from_, to)
    assert [build.version for build in (selection.builds[0], selection.builds[-1])] == [
        "2.13.0.dev20260520+cu126",
        "2.13.0.dev20260525+cu126",
    ]


def test_an_open_start_goes_back_to_where_the_variant_begins(serve: Serve) -> None:
    index = serve(
        date(2026, 7, 20), date(2026, 10, 9), "cu130", "cu134", missing=(Missing(date(2026, 8, 10), date(2026, 8, 12)),)
    )
    listing = channel(index).listing(wanted(None, None, variant="cu134"))
    assert (days(listing)[0], listing.left_out) == ("2026-08-13", ())


def test_a_variant_is_looked_for_a_little_before_its_time_and_not_missed_there(serve: Serve) -> None:
    index = serve(date(2025, 8, 1), date(2025, 10, 1), "cu130", today=date(2026, 10, 9))
    listing = channel(index).listing(wanted("2025-01-01", "2025-09-10", variant="cu130"))
    assert (days(listing)[0], listing.left_out) == ("2025-08-25", ())  # by the table 2025-08-27


def test_both_versions_of_a_date(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9), doubled=[date(2026, 10, 7)])
    listing = channel(index).listing(wanted("2026-10-06", "2026-10-08"))
    assert versions(listing) == [
        "2.16.0.dev20261006+cpu",
        "2.15.0.dev20261007+cpu",
        "2.16.0.dev20261007+cpu",
        "2.16.0.dev20261008+cpu",
    ]


def test_build_numbers_in_names(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9), build_numbers={date(2026, 10, 7): "3"})
    listing = channel(index).listing(wanted("2026-10-07", "2026-10-07"))
    assert [build.filename for build in listing.builds] == [
        "torch-2.16.0.dev20261007+cpu-3-cp311-cp311-manylinux_2_28_x86_64.whl"
    ]


def test_bounds_in_the_wrong_order(serve: Serve) -> None:
    with pytest.raises(BoundError, match="is after to"):
        channel(serve(*YEAR)).listing(wanted("2026-05-01", "2026-04-01"))


def test_a_beginning_in_the_future(serve: Serve) -> None:
    with pytest.raises(BoundError, match="after today"):
        channel(serve(*YEAR)).listing(wanted("2026-12-01", None))


def test_a_variant_that_does_not_exist(serve: Serve) -> None:
    index = serve(date(2026, 5, 1), date(2026, 10, 9), "cpu", "cu130")
    with pytest.raises(PackageNotFound) as caught:
        channel(index).listing(wanted("2026-09-01", "2026-09-05", variant="cu131"))
    assert caught.value.what == (
        "no nightlies of torch in cu131 from 2026-09-01 to 2026-09-05 for Python 3.11.7 on "
        f"{target_for('3.11').tags[0].platform}\n"
        "  variants of these dates: cpu, xpu, cu126, cu130, cu132, cu134, rocm7.2, rocm7.14"
    )


def test_a_package_without_nightlies(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9))
    asked = wanted("2026-09-01", "2026-09-05")
    with pytest.raises(PackageNotFound, match="no package 'requests'") as caught:
        channel(index).listing(type(asked)("requests", asked.target, from_="2026-09-01", to="2026-09-05"))
    assert "channel `release`" in caught.value.advice


def test_a_gpu_that_nothing_runs_on(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9), "cu130")
    with pytest.raises(PackageNotFound) as caught:
        channel(index).listing(wanted("2026-09-20", "2026-10-05", machine=Machine("cuda", "470.57.02", (8, 6))))
    assert caught.value.what == (
        "no CUDA variant of the nightlies from 2026-09-20 to 2026-10-05 runs on this machine with driver 470.57.02 and "
        "compute capability 8.6\n"
        "  those of these dates: cu130, cu132, cu134; the oldest driver that one of them runs with is 580"
    )


def test_a_machine_that_is_too_old_for_the_wheels(serve: Serve) -> None:
    index = serve(date(2024, 10, 1), date(2025, 2, 1), today=date(2026, 10, 9))
    asked = wanted("2024-11-01", "2025-02-01")
    tags = tuple(tag for tag in asked.target.tags if "2_28" not in tag.platform)
    old = replace(asked, target=replace(asked.target, tags=tags))
    listing = channel(index).listing(old)
    assert days(listing)[-1] == "2024-12-18"
    assert {(left.because, left.detail) for left in listing.left_out if left.date and left.date.year == 2025} == {
        (LeftOutBecause.MISSING, ""),
        (LeftOutBecause.NO_WHEEL, "wheels for manylinux_2_28_x86_64"),
    }


def test_the_address_of_one_variant_is_not_that_of_the_nightlies() -> None:
    with pytest.raises(SettingError) as caught:
        open_channel("nightly", Access(nightly_index="https://me:secret@download.pytorch.org/whl/nightly/cu130/"))
    assert "Give https://download.pytorch.org/whl/nightly," in caught.value.advice
    assert "secret" not in str(caught.value)


def test_a_variant_that_was_asked_for_is_taken_and_doubted(serve: Serve) -> None:
    index = serve(date(2026, 6, 1), date(2026, 6, 5), "cu130", today=date(2026, 6, 6))
    old = Machine("cuda", "535.104.05", (9, 0))
    listing = channel(index).listing(wanted("2026-06-01", "2026-06-05", variant="cu130", machine=old))
    assert len(listing.builds) == 5
    assert listing.notes == (
        "variant cu130, as asked for; it may not run here: cu130 needs driver 580 or newer, and this machine has 535.104.05",
    )
    listing = channel(index).listing(wanted("2026-06-01", "2026-06-05", variant="cu130", machine=H200))
    assert listing.notes == ("variant cu130, as asked for",)
