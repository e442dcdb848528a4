from __future__ import annotations

from datetime import date

import pytest

from tests.rig.nightly_index import eras
from tests.rig.nightly_index.plan import NightlyPlan


@pytest.mark.parametrize(
    ("day", "version"),
    [
        (date(2023, 9, 5), "2.1.0"),
        (date(2023, 9, 7), "2.2.0"),
        (date(2025, 1, 4), "2.6.0"),
        (date(2025, 1, 5), "2.7.0"),
        (date(2025, 9, 10), "2.10.0"),
        (date(2026, 10, 5), "2.15.0"),
        (date(2026, 10, 9), "2.16.0"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_versions_at_the_dates_that_were_seen(day: date, version: str, seed: int) -> None:
    assert eras.base_version(day, seed) == version


def test_the_switch_inside_a_gap_depends_on_the_seed() -> None:
    assert {eras.base_version(date(2024, 5, 20), seed) for seed in range(20)} == {"2.4.0", "2.5.0"}


def test_a_day_before_the_table_has_no_version() -> None:
    with pytest.raises(ValueError, match="begins at 2023-04-01"):
        eras.base_version(date(2023, 3, 31), 0)


@pytest.mark.parametrize(
    ("day", "variant", "machine", "tag"),
    [
        (date(2024, 12, 3), "cu126", "x86_64", "linux_x86_64"),
        (date(2024, 12, 5), "cu126", "x86_64", "manylinux_2_28_x86_64"),
        (date(2024, 12, 18), "cpu", "x86_64", "linux_x86_64"),
        (date(2024, 12, 19), "cu124", "x86_64", "manylinux_2_28_x86_64"),
        (date(2025, 5, 29), "xpu", "x86_64", "linux_x86_64"),
        (date(2024, 11, 20), "cpu", "aarch64", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
        (date(2025, 12, 12), "cpu", "aarch64", "manylinux_2_28_aarch64"),
    ],
)
def test_platform_tags(day: date, variant: str, machine: str, tag: str) -> None:
    assert eras.torch_platform(day, variant, machine, 0) == tag


def there(day: date) -> set[str]:
    return {variant for variant in eras.VARIANTS if variant.startswith("cu") and eras.has_variant(day, variant)}


def test_variants_of_their_times() -> None:
    assert there(date(2024, 7, 1)) == {"cu118", "cu121", "cu124"}
    assert there(date(2025, 3, 10)) == {"cu118", "cu124", "cu126", "cu128"}
    assert there(date(2025, 10, 1)) == {"cu126", "cu128", "cu130"}
    assert there(date(2026, 10, 9)) == {"cu130", "cu132", "cu134"}


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="cu131: no such variant"):
        NightlyPlan(first=date(2026, 1, 1), last=date(2026, 1, 2), variants=("cu131",))


def test_interpreters_of_their_times() -> None:
    def built(day: date) -> list[str]:
        return [python for python in eras.PYTHONS if eras.has_python(day, python)]

    assert built(date(2024, 1, 1)) == ["cp38", "cp39", "cp310", "cp311", "cp312"]
    assert built(date(2026, 10, 9)) == ["cp310", "cp311", "cp312", "cp313", "cp314", "cp314t", "cp315", "cp315t"]
    assert eras.python_tag("cp313t") == "cp313-cp313t"


def test_dates_that_the_world_missed() -> None:
    plan = NightlyPlan(first=date(2024, 11, 1), last=date(2026, 4, 30), variants=("cpu", "cu124", "rocm7.1"))
    assert not plan.is_built(date(2024, 11, 10), "cpu", "cp311")
    assert plan.is_built(date(2024, 11, 10), "cu124", "cp311")
    assert not plan.is_built(date(2024, 12, 17), "cu124", "cp311")
    assert not plan.is_built(date(2026, 4, 8), "rocm7.1", "cp311")
    assert plan.is_built(date(2026, 4, 9), "rocm7.1", "cp311")


def test_what_builds_say_about_cuda() -> None:
    assert (eras.cuda_version("cu130"), eras.cuda_version("cpu")) == ("13.0", None)
    assert "sm_70" in eras.architectures("cu128", date(2025, 10, 1))
    assert "sm_70" not in eras.architectures("cu128", date(2026, 1, 1))
    assert eras.architectures("rocm7.0", date(2025, 10, 1)) == ()
