from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from packaging.version import Version

from bisect_tool.builds.build import Build, LeftOutBecause, Listing, Machine, Wanted
from bisect_tool.builds.cuda_fit import code_of_release, code_of_variant, release_rows, why_not, without_unfit
from bisect_tool.builds.fitting import target_for

H200 = Machine("cuda", "580.159", (9, 0))
V100 = Machine("cuda", "580.159", (7, 0))
OLD_DRIVER = Machine("cuda", "535.104.05", (9, 0))
TAG = "manylinux_2_28_x86_64"


@pytest.mark.parametrize(
    ("version", "variant"),
    [
        ("1.13.1", "cu117"), ("2.0.1", "cu117"), ("2.1.0", "cu121"), ("2.4.1", "cu121"), ("2.5.1", "cu124"),
        ("2.6.0", "cu124"), ("2.7.1", "cu126"), ("2.8.0", "cu128"), ("2.10.0", "cu128"), ("2.11.0", "cu130"),
        ("2.14.1", "cu130"), ("2.15.0", "cu132"), ("2.15.0+cu132", "cu132"),
    ],
)  # fmt: skip
def test_the_cuda_of_a_release(version: str, variant: str) -> None:
    code = code_of_release(Version(version), TAG)
    assert code is not None
    assert code.variant == variant


@pytest.mark.parametrize("version", ["1.12.1", "2.15.1", "2.16.0"])
def test_releases_that_the_table_does_not_know_are_not_judged(version: str) -> None:
    assert code_of_release(Version(version), TAG) is None


def test_wheels_for_arm_had_no_cuda_before_2_11() -> None:
    arm = "manylinux_2_28_aarch64"
    older, newer = code_of_release(Version("2.10.0"), arm), code_of_release(Version("2.11.0"), arm)
    assert older is not None
    assert newer is not None
    assert why_not(older, H200) == "its wheel for this machine is without CUDA"
    assert (newer.variant, why_not(newer, H200)) == ("cu130", None)


@pytest.mark.parametrize(
    ("variant", "day", "machine", "why"),
    [
        ("cu130", date(2026, 6, 1), H200, None),
        ("cu128", date(2026, 1, 1), OLD_DRIVER, None),
        ("cu129", date(2025, 8, 1), replace(OLD_DRIVER, driver="525.60.13"), None),
        ("cu130", date(2026, 6, 1), OLD_DRIVER, "cu130 needs driver 580 or newer, and this machine has 535.104.05"),
        ("cu126", date(2026, 6, 1), V100, None),
        ("cu130", date(2026, 6, 1), V100,
         "cu130 is built for sm_75, sm_80, sm_86, sm_90, sm_100, sm_120, and this GPU is sm_70"),
        ("cu126", date(2026, 6, 1), replace(H200, capability=(12, 0)),
         "cu126 is built for sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90, and this GPU is sm_120"),
        ("cu130", date(2026, 6, 1), replace(H200, capability=(12, 1)), None),
        ("cu130", date(2026, 6, 1), replace(H200, capability=(8, 9)), None),
        ("cu999", date(2026, 6, 1), V100, None),
        ("cu130", date(2026, 6, 1), Machine("cuda"), None),
        ("cu130", date(2026, 6, 1), Machine("cpu"), None),
    ],
)  # fmt: skip
def test_what_a_machine_can_run(variant: str, day: date, machine: Machine, why: str | None) -> None:
    assert why_not(code_of_variant(variant, day, TAG), machine) == why


def _listing(*versions: str) -> Listing:
    day = datetime(2026, 6, 1, tzinfo=UTC)
    builds = tuple(
        Build("torch", one, f"torch-{one}-cp311-cp311-{TAG}.whl", "", day, variant=one.partition("+")[2] or None)
        for one in versions
    )
    return Listing(builds, (), "the index")


def test_what_cannot_run_is_left_out_with_the_reason() -> None:
    found = without_unfit(
        _listing("2.9.0", "2.10.0", "2.11.0", "2.16.0"), Wanted("torch", target_for("3.11"), machine=OLD_DRIVER),
        is_usual_index=True,
    )  # fmt: skip
    assert [build.version for build in found.builds] == ["2.9.0", "2.10.0", "2.16.0"]
    (left,) = found.left_out
    assert (left.version, left.because) == ("2.11.0", LeftOutBecause.DEVICE)
    assert left.detail == "cu130 needs driver 580 or newer, and this machine has 535.104.05"


def test_another_index_may_have_other_builds_but_a_label_tells() -> None:
    wanted = Wanted("torch", target_for("3.11"), machine=OLD_DRIVER)
    found = without_unfit(
        _listing("2.11.0", "2.11.1+cu130", "2.11.2+cu126", "2.11.3+cpu"), wanted, is_usual_index=False
    )
    assert [build.version for build in found.builds] == ["2.11.0", "2.11.2+cu126"]


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("torch", target_for("3.11"), machine=Machine("cpu")),
        Wanted("torchvision", target_for("3.11"), machine=OLD_DRIVER),
    ],
)
def test_only_torch_on_cuda_is_judged(wanted: Wanted) -> None:
    listing = _listing("2.11.0")
    assert without_unfit(listing, wanted, is_usual_index=True) is listing


def test_the_rows_are_in_order() -> None:
    rows, checked = release_rows()
    assert [row.since for row in rows] == sorted(row.since for row in rows)
    assert checked >= rows[-1].since
