"""What uv is given for a nightly."""

from __future__ import annotations

from datetime import date

import pytest

from bisect_tool.builds.build import Build, Installation
from tests.builds.nightly.conftest import Serve, channel, wanted
from tests.rig import index_faults as faults
from tests.rig.nightly_index import NightlyIndex


@pytest.fixture
def index(serve: Serve) -> NightlyIndex:
    return serve(date(2024, 2, 1), date(2026, 10, 9), "cu118", "cu126", "cpu", vision=True)


def build_of(index: NightlyIndex, day: str, variant: str = "cu126") -> Build:
    return channel(index).listing(wanted(day, day, variant=variant)).builds[0]


def installation(index: NightlyIndex, day: str, variant: str = "cu126", *requires: str) -> Installation:
    build = build_of(index, day, variant)
    index.requests.clear()
    return channel(index).installation(build, requires)


def names(found: Installation) -> list[str]:
    return [requirement.split("/")[-1].replace("%2B", "+") for requirement in found.requirements]


def test_torch_and_its_triton_by_their_addresses(index: NightlyIndex) -> None:
    found = installation(index, "2026-06-20")
    assert names(found) == [
        "torch-2.14.0.dev20260620+cu126-cp311-cp311-manylinux_2_28_x86_64.whl",
        "triton-3.7.1+git5d6048aa-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
    ]
    assert found.requirements[0].startswith(f"torch @ {index.address}/cu126/torch-2.14.0.dev20260620%2Bcu126-")
    assert found.requirements[1].startswith(f"triton @ {index.r2_host}/whl/nightly/triton-3.7.1%2Bgit5d6048aa-")
    assert found.options == ("--default-index", index.default_index, "--refresh-package", "torch")
    assert (found.overrides, found.constraints, found.instead_of, found.offline) == ((), (), frozenset(), False)
    assert index.requests.counts() == {("GET", "metadata"): 1, ("GET", "page"): 1}


@pytest.mark.parametrize(
    ("day", "name"),
    [("2025-12-09", "pytorch_triton-"), ("2025-12-10", "triton-"), ("2024-11-20", "pytorch_triton-3.1.0+cf34004b8a-")],
)
def test_triton_under_its_name_of_the_time(index: NightlyIndex, day: str, name: str) -> None:
    assert names(installation(index, day))[1].startswith(name)


def test_a_triton_that_no_page_lists_is_found_where_it_lies(index: NightlyIndex) -> None:
    index.faults.add("whl/nightly/cu126/triton/", faults.status(404))
    found = installation(index, "2026-06-20")
    assert found.requirements[1] == (
        f"triton @ {index.address}/triton-3.7.1%2Bgit5d6048aa-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    )


def test_a_triton_that_is_nowhere_is_left_to_uv(index: NightlyIndex) -> None:
    index.withdraw("triton-*")
    assert len(installation(index, "2026-06-20").requirements) == 1


def test_the_cpu_needs_no_triton(index: NightlyIndex) -> None:
    found = installation(index, "2026-06-20", "cpu")
    assert names(found) == ["torch-2.14.0.dev20260620+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"]


def test_old_builds_get_numpy_1(index: NightlyIndex) -> None:
    assert installation(index, "2024-02-20", "cpu").constraints == ("numpy<2",)


def test_torchvision_of_the_date_beside_torch(index: NightlyIndex) -> None:
    found = installation(index, "2026-06-20", "cu126", "torchvision", "numpy")
    assert names(found)[2] == "torchvision-0.28.0.dev20260620+cu126-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert found.overrides == (found.requirements[0],)
    assert found.instead_of == frozenset({"torchvision"})
    assert found.options[-2:] == ("--refresh-package", "torchvision")


def test_torchvision_of_an_earlier_date_where_that_one_is_missing(index: NightlyIndex) -> None:
    index.withdraw("torchvision-*.dev2026062?+*")
    index.withdraw("torchvision-*.dev2026061[3-9]+*")
    found = installation(index, "2026-06-20", "cu126", "torchvision>=0.1")
    assert "-0.28.0.dev20260612+cu126-" in names(found)[2]


def test_a_torchvision_that_is_nowhere_is_required_as_it_should_be(index: NightlyIndex) -> None:
    index.withdraw("torchvision-*")
    found = installation(index, "2026-06-20", "cu126", "torchvision")
    assert found.requirements[2] == "torchvision==0.29.0.dev20260620+cu126"
    assert found.instead_of == frozenset({"torchvision"})


def test_a_triton_that_the_spec_names_takes_the_place_of_the_pinned_one(index: NightlyIndex) -> None:
    found = installation(index, "2026-06-20", "cu126", "triton==3.6.0")
    assert len(found.requirements) == 1
    assert found.overrides == ("triton==3.6.0",)


def test_a_triton_without_a_version_does_not(index: NightlyIndex) -> None:
    found = installation(index, "2026-06-20", "cu126", "triton")
    assert len(found.requirements) == 2
    assert found.overrides == ()


def test_requirements_that_cannot_be_read_are_left_to_uv(index: NightlyIndex) -> None:
    index.faults.add("torch-*", faults.without_ranges())
    assert len(installation(index, "2024-12-20").requirements) == 1
