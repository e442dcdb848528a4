from __future__ import annotations

import tomllib
from datetime import date
from itertools import pairwise

from packaging.requirements import Requirement

from bisect_tool.builds.nightly.tables import FILE, Span, Tables


def test_every_row_has_its_source() -> None:
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    lists = [tables["versions"]["row"], tables["variants"]["row"]]
    lists += [tables[name] for name in ("companion", "architectures", "python", "platform", "constraint")]
    assert [row for rows in lists for row in rows if not row.get("source")] == []
    assert tables["metadata"]["source"]


def test_versions_follow_each_other(tables: Tables) -> None:
    for before, after in pairwise(tables.versions):
        assert before.version < after.version
        assert before.first <= after.last_before < after.first


def test_the_rows_of_architectures_do_not_overlap(tables: Tables) -> None:
    for variant in ("cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130", "cu132", "cu134"):
        rows = [row for row in tables.architectures if variant in row.variants and row.machine == "x86_64"]
        spans = sorted((row.span for row in rows), key=lambda span: span.first)
        assert spans
        assert all(before.last < after.first for before, after in pairwise(spans))


def test_every_cuda_variant_has_a_driver(tables: Tables) -> None:
    assert [row.name for row in tables.variants if row.name.startswith("cu") and row.driver is None] == []


def test_constraints_are_requirements(tables: Tables) -> None:
    assert [Requirement(row.requirement).name for row in tables.constraints] == ["numpy"]


def test_constraints_end(tables: Tables) -> None:
    assert tables.constraints_on(date(2024, 3, 1)) == ("numpy<2",)
    assert tables.constraints_on(date(2024, 9, 1)) == ()


def test_spans() -> None:
    span = Span(date(2026, 1, 5), date(2026, 1, 7))
    assert span.days() == [date(2026, 1, 5), date(2026, 1, 6), date(2026, 1, 7)]
    assert date(2026, 1, 7) in span
    assert date(2026, 1, 8) not in span
    assert span.meets(Span(date(2026, 1, 7), date(2026, 2, 1))) == Span(date(2026, 1, 7), date(2026, 1, 7))
    assert span.meets(Span(date(2026, 1, 8), date(2026, 2, 1))) is None
