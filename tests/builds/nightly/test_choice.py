from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag

from bisect_tool.builds.build import Machine, Target, Wanted
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.nightly.choice import Line, Stretch, lines_for, plan, reaching_back, serves
from bisect_tool.builds.nightly.tables import Span, Tables

TARGET = target_for("3.11.7")


def span(text: str) -> Span:
    first, _, last = text.partition("..")
    return Span(date.fromisoformat(first), date.fromisoformat(last) if last else date.max)


def line(variant: str, text: str, rank: int = 0) -> Line:
    return Line(variant, TARGET, span(text), (0, rank))


def planned(days: str, *lines: Line) -> list[tuple[str, str]]:
    return [(stretch.line.variant, f"{stretch.span.first}..{stretch.span.last}") for stretch in plan(lines, span(days))]


def chosen(tables: Tables, days: str, machine: Machine, **rest: Any) -> list[tuple[str, str]]:
    lines = lines_for(tables, Wanted("torch", TARGET, machine=machine, **rest))
    return [(one.line.variant, f"{one.span.first}..{one.span.last}") for one in plan(lines, span(days))]


OLD, NEW = line("old", "2025-01-01..2025-12-31"), line("new", "2025-08-01")


def test_one_line_that_has_all() -> None:
    assert planned("2025-02-01..2025-05-01", OLD, NEW) == [("old", "2025-02-01..2025-05-01")]


def test_of_several_that_have_all_the_best() -> None:
    days = "2025-08-10..2025-12-01"
    assert planned(days, line("a", "2025-01-01..2025-12-31", 1), line("b", "2025-08-01", 0)) == [("b", days)]


def test_a_cut_where_none_has_all() -> None:
    assert planned("2025-02-01..2026-03-01", OLD, NEW) == [
        ("old", "2025-02-01..2025-12-31"),
        ("new", "2025-08-01..2026-03-01"),
    ]


def test_as_few_cuts_as_possible() -> None:
    between = line("between", "2025-05-01..2025-12-31")
    assert [name for name, _ in planned("2025-02-01..2026-03-01", OLD, between, NEW)] == ["old", "new"]


def test_dates_without_any_line_stay_out() -> None:
    early, late = line("early", "2025-01-01..2025-02-01"), line("late", "2025-03-01")
    assert planned("2024-12-01..2025-04-01", early, late) == [
        ("early", "2025-01-01..2025-02-01"),
        ("late", "2025-03-01..2025-04-01"),
    ]
    assert planned("2024-01-01..2024-02-01", early, late) == []


def test_an_open_beginning_takes_the_line_that_goes_back_farthest() -> None:
    assert reaching_back([OLD, NEW], date(2025, 9, 1)) == OLD
    assert reaching_back([OLD, NEW], date(2026, 9, 1)) == NEW
    assert reaching_back([OLD], date(2026, 9, 1)) == OLD
    assert reaching_back([NEW], date(2025, 1, 1)) is None


spans = st.tuples(st.integers(0, 80), st.integers(0, 40)).map(
    lambda pair: Span(date.fromordinal(739_000 + pair[0]), date.fromordinal(739_000 + pair[0] + pair[1]))
)


@given(st.lists(spans, max_size=6), spans)
def test_a_plan_covers_all_that_any_line_has(found: list[Span], days: Span) -> None:
    lines = [Line(str(number), TARGET, one, (0, number)) for number, one in enumerate(found)]
    stretches = plan(lines, days)
    there = {day for one in found for day in one.days()} & set(days.days())
    assert {day for stretch in stretches for day in stretch.span.days()} == there
    assert all(_goes_on(before, after) for before, after in pairwise(stretches))


def _goes_on(before: Stretch, after: Stretch) -> bool:
    return before.span.first <= after.span.first and before.span.last < after.span.last


def test_a_cpu_takes_the_cpu_variant(tables: Tables) -> None:
    days = "2024-01-01..2026-10-01"
    assert chosen(tables, days, Machine()) == [("cpu", days)]


@pytest.mark.parametrize(
    ("days", "driver", "capability", "variants"),
    [
        ("2025-10-01..2026-10-01", "580.65.06", (9, 0), ["cu130"]),
        ("2026-09-01..2026-10-01", "580.65.06", (9, 0), ["cu134"]),
        ("2024-12-01..2026-09-01", "580.65.06", (9, 0), ["cu126"]),
        ("2024-06-15..2026-10-01", "580.65.06", (9, 0), ["cu118", "cu126", "cu134"]),
        ("2025-10-20..2026-03-01", "560.28.03", (9, 0), ["cu129"]),
        ("2025-10-20..2026-02-01", "560.28.03", (12, 0), ["cu129"]),
        ("2025-10-20..2026-02-01", "560.28.03", (7, 0), ["cu126"]),
        ("2024-01-01..2024-03-01", "470.57.02", (8, 6), ["cu118"]),
        ("2026-01-01..2026-10-01", "470.57.02", (8, 6), []),
        ("2024-01-01..2024-12-01", "580.65.06", (10, 0), []),
        ("2024-12-01..2025-12-01", "580.65.06", (10, 0), ["cu128"]),
        ("2026-01-01..2026-10-01", None, None, ["cu130"]),
    ],
)
def test_a_gpu_takes_what_runs_on_it(
    tables: Tables, days: str, driver: str | None, capability: tuple[int, int] | None, variants: list[str]
) -> None:
    assert [variant for variant, _ in chosen(tables, days, Machine("cuda", driver, capability))] == variants


def test_a_variant_that_is_named_is_taken_whatever_the_machine(tables: Tables) -> None:
    assert chosen(tables, "2025-10-01..2026-03-01", Machine("cuda", "470.57.02"), variant="cu129") == [
        ("cu129", "2025-10-01..2026-03-01")
    ]
    assert chosen(tables, "2026-01-01..2026-03-01", Machine(), variant="cu199")[0][0] == "cu199"


def test_another_python_where_the_preferred_one_is_not_built(tables: Tables) -> None:
    targets = {"target": target_for("3.13.1"), "other_targets": (target_for("3.11.7"),)}
    lines = lines_for(tables, Wanted("torch", machine=Machine(), **targets))  # type: ignore[arg-type]
    assert [one.line.target.python for one in plan(lines, span("2025-01-01..2026-01-01"))] == ["3.13.1"]
    assert [one.line.target.python for one in plan(lines, span("2024-01-01..2026-01-01"))] == ["3.11.7"]


@pytest.mark.parametrize(
    ("variant", "capability", "runs"),
    [("cu126", (8, 9), True), ("cu126", (6, 1), True), ("cu126", (10, 0), False), ("cu130", (6, 1), False),
     ("cu130", (10, 3), True), ("cu130", (12, 1), True), ("cu130", (13, 0), True), ("cu130", (11, 0), False)],
)  # fmt: skip
def test_architectures(tables: Tables, variant: str, capability: tuple[int, int], *, runs: bool) -> None:
    rows = [row for row in tables.architectures if variant in row.variants and row.machine == "x86_64"]
    assert [serves(row, capability) for row in rows] == [runs]


def test_other_machines_have_other_architectures(tables: Tables) -> None:
    thor, arm = (
        Machine("cuda", "580.65.06", (11, 0)),
        Target("3.11.7", (Tag("cp311", "cp311", "manylinux_2_28_aarch64"),)),
    )
    assert lines_for(tables, Wanted("torch", TARGET, machine=thor)) == ()
    assert {line.variant for line in lines_for(tables, Wanted("torch", arm, machine=thor))} == {
        "cu130",
        "cu132",
        "cu134",
    }
