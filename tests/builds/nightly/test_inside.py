from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from bisect_tool.builds.build import Build
from bisect_tool.builds.nightly.inside import Unreadable
from bisect_tool.errors import IndexUnreachable
from tests.builds.nightly.conftest import Serve, channel, wanted
from tests.rig import index_faults as faults
from tests.rig.nightly_index import NightlyIndex


@pytest.fixture
def index(serve: Serve) -> NightlyIndex:
    return serve(date(2024, 11, 1), date(2026, 10, 9), "cu126", "cpu")


def build_of(index: NightlyIndex, day: str, variant: str = "cu126", pages: Path | None = None) -> Build:
    build = channel(index, pages).listing(wanted(day, day, variant=variant)).builds[0]
    index.requests.clear()
    return build


def test_what_is_inside_by_parts(index: NightlyIndex) -> None:
    build = build_of(index, "2024-12-11")
    inside = channel(index).inside(build)
    assert (inside.version, inside.cuda) == ("2.6.0.dev20241211+cu126", "12.6")
    assert inside.revision == index.plan.cut(date(2024, 12, 11)).nightly
    assert any(line.startswith("pytorch-triton==3.2.0+git") for line in inside.requires)
    assert index.requests.counts() == {("GET", "file"): 1}  # all of a tiny wheel lies in its last 64 KB


def test_metadata_beside_the_wheel_since_2025(index: NightlyIndex) -> None:
    build = build_of(index, "2026-03-03")
    assert channel(index).inside(build).revision == index.plan.cut(date(2026, 3, 3)).nightly
    assert index.requests.counts() == {("GET", "metadata"): 1, ("GET", "file"): 1}


def test_metadata_that_is_missing_is_read_from_the_wheel(index: NightlyIndex) -> None:
    build = build_of(index, "2026-03-03")
    index.faults.add("*.metadata", faults.without_metadata())
    assert "filelock" in channel(index).inside(build).requires


def test_it_is_remembered_until_the_file_is_replaced(index: NightlyIndex, tmp_path: Path) -> None:
    build = build_of(index, "2026-03-03", pages=tmp_path)
    opened = channel(index, tmp_path)
    first = opened.inside(build)
    index.requests.clear()
    assert channel(index, tmp_path).inside(build) == first
    assert index.requests.counts() == {}
    other = index.plan.cut(date(2026, 3, 4))
    index.replace("torch-*20260303+cu126*", cut=other)
    assert opened.inside(opened.current(build)).revision == other.nightly


def test_a_listing_has_the_commits_that_are_known(index: NightlyIndex, tmp_path: Path) -> None:
    build = build_of(index, "2026-03-03", pages=tmp_path)
    assert build.revision is None
    channel(index, tmp_path).inside(build)
    again = build_of(index, "2026-03-03", pages=tmp_path)
    assert again.revision == index.plan.cut(date(2026, 3, 3)).nightly
    assert again.identity == build.identity


def test_a_server_without_parts(index: NightlyIndex) -> None:
    build = build_of(index, "2026-03-03")
    index.faults.add("torch-*.whl", faults.without_ranges())
    with pytest.raises(Unreadable, match="no parts"):
        channel(index).inside(build)


def test_a_file_that_is_gone(index: NightlyIndex) -> None:
    build = build_of(index, "2026-03-03")
    index.withdraw("torch-*20260303*")
    with pytest.raises(Unreadable, match="not there"):
        channel(index).inside(build)


def test_faults_on_the_way(index: NightlyIndex) -> None:
    build = build_of(index, "2026-03-03")
    index.faults.storm(seed=5, share=0.9)
    assert channel(index).inside(build).revision == index.plan.cut(date(2026, 3, 3)).nightly
    index.faults.add("*", faults.truncated())
    with pytest.raises(IndexUnreachable):
        channel(index).inside(build)


def test_a_wheel_that_is_no_archive(index: NightlyIndex) -> None:
    build = build_of(index, "2024-12-11")
    index.faults.add("torch-*", faults.replaced(b"<html>log in</html>"))
    with pytest.raises(Unreadable, match="no directory"):
        channel(index).inside(build)
