"""PyTorch's own builds of triton, whose versions have no date."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from bisect_tool.builds.bounds import select
from bisect_tool.builds.fitting import target_for
from bisect_tool.errors import PackageNotFound
from tests.builds.nightly.conftest import Serve, channel, wanted


def test_builds_of_triton_are_in_the_order_of_their_files(serve: Serve, tmp_path: Path) -> None:
    index = serve(date(2026, 1, 1), date(2026, 10, 9), "cu130")
    own = channel(index, tmp_path)
    listing = own.listing(replace(wanted(), package="triton"))
    wheels = sorted(
        (
            wheel
            for wheel in index.catalogue.roots.values()
            if wheel.package == "triton" and "cp311" in wheel.tag and wheel.uploaded <= index.now
        ),
        key=lambda wheel: wheel.uploaded,
    )
    assert [build.version for build in listing.builds] == [wheel.version for wheel in wheels]
    assert len(wheels) > 3
    assert listing.dated
    assert all(build.revision and build.version.endswith(f"+git{build.revision}") for build in listing.builds)
    chosen = select(listing, "2026-03-01", "2026-08-01")
    assert all(build.date and "2026-03" <= f"{build.date:%Y-%m}" <= "2026-08" for build in chosen.builds)


def test_its_file_is_installed_by_its_address(serve: Serve) -> None:
    index = serve(date(2026, 1, 1), date(2026, 10, 9), "cu130")
    own = channel(index)
    build = own.listing(replace(wanted(), package="triton")).builds[-1]
    installation = own.installation(build, ("torch==2.14.1",))
    assert installation.requirements == (f"triton @ {build.location}",)


def test_no_page_and_no_wheel_for_this_python(serve: Serve) -> None:
    index = serve(date(2026, 9, 1), date(2026, 10, 9), "cu130")
    with pytest.raises(PackageNotFound):
        channel(index).listing(replace(wanted(), package="triton-xpu"))
    other = replace(wanted(), package="triton", target=target_for("3.7"))
    with pytest.raises(PackageNotFound, match=r"none of the .* versions of triton can be used with Python 3\.7"):
        channel(index).listing(other)
