from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bisect_tool.builds.build import Build
from bisect_tool.builds.seams import described_side, is_leap, is_seam, seams_of


def nightly(day: int, variant: str, *, version: str = "2.6.0", python: str | None = None) -> Build:
    full = f"{version}.dev202411{day:02}+{variant}"
    return Build(
        "torch", full, f"torch-{full}.whl", "", datetime(2024, 11, day, tzinfo=UTC), variant=variant, python=python
    )


OLD, SAME_DAY, NEXT_DAY = nightly(12, "cu121"), nightly(12, "cu124"), nightly(13, "cu124")


def test_two_variants_of_one_day_are_a_seam() -> None:
    assert seams_of((nightly(11, "cu121"), OLD, SAME_DAY, NEXT_DAY)) == (1,)


def test_two_pythons_of_one_day_are_a_seam() -> None:
    assert is_seam(replace(OLD, python="3.10"), OLD)


@pytest.mark.parametrize(
    "newer",
    [
        NEXT_DAY,  # another day
        nightly(12, "cu124", version="2.7.0"),  # another version: perhaps another commit
        OLD,
        replace(SAME_DAY, date=None),
    ],
)
def test_what_is_no_seam(newer: Build) -> None:
    assert not is_seam(OLD, newer)


def test_both_sides_are_described() -> None:
    assert described_side(OLD) == "variant cu121"
    assert described_side(replace(OLD, python="3.10")) == "variant cu121 on Python 3.10"


def test_another_variant_of_another_day_is_a_leap() -> None:
    assert is_leap(OLD, NEXT_DAY)
    assert not is_leap(OLD, SAME_DAY)
    assert not is_leap(SAME_DAY, NEXT_DAY)
