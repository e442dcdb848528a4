"""Real packages of the real index; what they had in November 2026 stays true, since files are not taken back."""

from __future__ import annotations

import itertools

import pytest
from packaging.version import Version

from bisect_tool.builds.bounds import select
from bisect_tool.builds.build import LeftOutBecause, Listing, Wanted
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.fitting import target_for

pytestmark = pytest.mark.network


def listing(package: str, *, pre: bool = False) -> Listing:
    return open_channel("release", Access()).listing(Wanted(package, target_for("3.11.7"), pre=pre))


def test_a_dated_stream() -> None:
    stream = listing("liger-kernel-nightly")
    assert stream.dated
    assert len(stream.builds) > 500
    dates = [build.date for build in stream.builds if build.date]
    assert dates == sorted(dates)
    days = {day: len(list(group)) for day, group in itertools.groupby(dates, key=lambda date: date.date())}
    assert max(days.values()) > 1
    assert all(build.sha256 for build in stream.builds)
    october = select(stream, "2026-10-01", "2026-10-27")
    assert october.builds[-1].version == "0.8.5.dev20261027042432"


def test_releases_of_torch() -> None:
    torch = listing("torch")
    assert not torch.dated
    assert torch.has_upload_times
    found = {build.version: build for build in torch.builds}
    assert {"2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"} <= found.keys()
    assert "manylinux" in found["2.15.0"].filename
    assert "cp311" in found["2.15.0"].filename
    between = [build.version for build in select(torch, "2.11", "2.15").builds]
    assert (between[0], between[-1]) == ("2.11.0", "2.15.0")


@pytest.mark.parametrize("package", ["click", "sympy"])
def test_releases_without_their_pre_releases(package: str) -> None:
    releases, everything = listing(package), listing(package, pre=True)
    assert not releases.dated
    versions = [Version(build.version) for build in releases.builds]
    assert versions == sorted(versions)
    assert not any(version.is_prerelease for version in versions)
    assert len(everything.builds) > len(releases.builds)
    assert any(left.because is LeftOutBecause.PRE_RELEASE for left in releases.left_out)
    assert not any(left.because is LeftOutBecause.PRE_RELEASE for left in everything.left_out)
