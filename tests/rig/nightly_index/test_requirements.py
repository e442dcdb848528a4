from __future__ import annotations

from datetime import date

import pytest

from tests.rig.nightly_index import NightlyPlan, eras, requirements, triton_pins
from tests.rig.nightly_index.catalogue import Catalogue, torch_wheel

ON_X86 = 'platform_system == "Linux" and platform_machine == "x86_64"'


def triton(day: date, variant: str) -> str | None:
    return triton_pins.requirement(day, variant, eras.base_version(day, 0), 0)


@pytest.mark.parametrize(
    ("day", "variant", "expected"),
    [
        (date(2024, 11, 13), "cu124", f"pytorch-triton==3.1.0+cf34004b8a; {ON_X86}"),
        (date(2025, 9, 2), "cu128", f"pytorch-triton==3.4.0+gitf7888497; {ON_X86}"),
        (
            date(2026, 6, 20),
            "cu130",
            'triton==3.7.1+git5d6048aa; platform_system == "Linux" and python_version < "3.15"',
        ),
        (
            date(2026, 10, 9),
            "rocm7.14",
            'triton-rocm==3.9.0+gitaad2a60d; platform_system == "Linux" and python_version < "3.15"',
        ),
        (date(2026, 10, 9), "cpu", None),
    ],
)
def test_the_exact_triton_of_known_nightlies(day: date, variant: str, expected: str | None) -> None:
    assert triton(day, variant) == expected


def test_triton_was_renamed_in_december_2025() -> None:
    before, after = triton(date(2025, 12, 9), "cu130"), triton(date(2025, 12, 10), "cu130")
    assert before
    assert before.startswith("pytorch-triton==3.")
    assert after
    assert after.startswith("triton==3.")


@pytest.mark.parametrize("seed", range(3))
def test_every_pin_has_its_wheels(seed: int) -> None:
    plan = NightlyPlan(first=date(2023, 6, 1), last=date(2026, 10, 9), variants=("cu121", "cu126", "cu130"), seed=seed)
    names = {(wheel.package.replace("_", "-"), wheel.version) for wheel in Catalogue(plan).roots.values()}
    for day in plan.days():
        assert (triton_pins.triton_name(day, "cu130"), triton_pins.pin_of(day, seed).version) in names


def test_pins_change_every_few_weeks() -> None:
    year = {triton_pins.pin_of(date.fromordinal(day), 0) for day in range(739250, 739250 + 365)}
    assert 8 <= len(year) <= 20


def needed(day: date, variant: str) -> tuple[str, ...]:
    plan = NightlyPlan(first=day, last=day, variants=(variant,))
    return requirements.of(torch_wheel(plan, eras.base_version(day, 0), day, variant, "cp311", "x86_64"), 0)


def test_libraries_by_era() -> None:
    assert f"nvidia-cudnn-cu12==9.5.1.17; {ON_X86}" in needed(date(2025, 6, 1), "cu126")
    assert 'cuda-toolkit==13.0.3; platform_system == "Linux"' in needed(date(2026, 6, 1), "cu130")
    assert "sympy==1.13.1" in needed(date(2024, 11, 1), "cpu")
    assert "setuptools<82" in needed(date(2026, 1, 10), "cpu")


def test_vision_needs_the_torch_of_the_day_before() -> None:
    day = date(2025, 5, 29)
    catalogue = Catalogue(NightlyPlan(first=day, last=day, pythons=("cp311",), vision=True))
    (vision,) = (wheel for wheel in catalogue.of_day(day).values() if wheel.package == "torchvision")
    assert vision.version == "0.23.0.dev20250529+cpu"
    assert "torch==2.8.0.dev20250528" in requirements.of(vision, 0)
