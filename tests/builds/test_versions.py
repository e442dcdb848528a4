from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.builds.versions import date_in, is_dated_pre_release, variant_of


@pytest.mark.parametrize(
    ("version", "date"),
    [
        ("0.8.5.dev20261027041530", datetime(2026, 10, 27, 4, 15, 30, tzinfo=UTC)),
        ("3.12.0.dev2025100703", datetime(2025, 10, 7, 3, tzinfo=UTC)),
        ("1.0.dev202510070315", datetime(2025, 10, 7, 3, 15, tzinfo=UTC)),
        ("2.13.0.dev20260520+cu126", datetime(2026, 5, 20, tzinfo=UTC)),
        ("2026.10.15", datetime(2026, 10, 15, tzinfo=UTC)),
        ("2022.09.24", datetime(2022, 9, 24, tzinfo=UTC)),
        ("2026.10.15.1", datetime(2026, 10, 15, tzinfo=UTC)),
        ("2.33.0.20261030", datetime(2026, 10, 30, tzinfo=UTC)),
        ("1.0.post20240101", datetime(2024, 1, 1, tzinfo=UTC)),
        ("1.0b20240229", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_date_inside_a_version(version: str, date: datetime) -> None:
    assert date_in(version) == date


@pytest.mark.parametrize(
    "version",
    [
        "2.14.1",
        "1.2.dev20261399",  # no thirteenth month
        "1.2.dev20250229",  # no leap year
        "1.2.dev2025100799",  # no hour 99
        "1.2.dev202510070",  # nine digits are a counter
        "1.2.dev1700000000",  # seconds since 1970
        "2026.10",
        "2024.2.0",
        "9999.10.15",
        "not-a-version",
        "",
    ],
)
def test_no_date_inside_a_version(version: str) -> None:
    assert date_in(version) is None


@given(st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 31)))  # noqa: DTZ001 - hypothesis wants naive ends
def test_every_second_survives_in_a_dev_number(moment: datetime) -> None:
    assert date_in(f"1.0.dev{moment:%Y%m%d%H%M%S}") == moment.replace(microsecond=0, tzinfo=UTC)


@given(st.dates(datetime(1990, 1, 1).date(), datetime(2099, 12, 31).date()))  # noqa: DTZ001
def test_every_day_survives_in_a_calendar_version(day: datetime) -> None:
    assert date_in(f"{day:%Y.%m.%d}") == datetime(day.year, day.month, day.day, tzinfo=UTC)


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    assert date_in(text) is None or date_in(text).tzinfo is UTC  # type: ignore[union-attr]


@given(st.integers(0, 10**16))
def test_a_number_is_a_date_only_if_it_prints_as_that_date(number: int) -> None:
    date = date_in(f"1.0.dev{number}")
    assert date is None or f"{date:%Y%m%d%H%M%S}".startswith(str(number))


def test_variant_is_the_local_label() -> None:
    assert variant_of("2.13.0.dev20260520+cu126") == "cu126"
    assert variant_of("2.7.0+cpu.cxx11.abi") == "cpu.cxx11.abi"
    assert variant_of("2.13.0") is None
    assert variant_of("rubbish") is None


def test_dated_pre_releases() -> None:
    assert is_dated_pre_release("0.8.5.dev20261027041530")
    assert not is_dated_pre_release("0.8.5.dev3")
    assert not is_dated_pre_release("2026.10.15")
    assert not is_dated_pre_release("1.0.post20240101")
