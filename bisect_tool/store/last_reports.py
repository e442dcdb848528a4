"""The last report of each question that the results database has: what was answered before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from bisect_tool.store import tables
from bisect_tool.store.records import REVIEW
from bisect_tool.store.results import Results

AT_ONCE = 500  # names in one query


def last_reports(results: Results, specs: Iterable[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """The last finished report of every spec of these names, by its name and the digest of its repro."""
    return results.database.read(lambda connection: _asked(connection, sorted(set(specs))))


def _asked(connection: Connection, names: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    table = tables.runs
    found: dict[tuple[str, str], str] = {}
    for start in range(0, len(names), AT_ONCE):
        query = (
            select(table.c.id, table.c.spec, table.c.repro)
            .where(table.c.spec.in_(names[start : start + AT_ONCE]))
            .where(table.c.outcome.is_not(None), table.c.outcome.not_in(("unfinished", REVIEW)))
            .order_by(table.c.ended, table.c.id)
        )
        found |= {(row.spec, row.repro): row.id for row in connection.execute(query)}
    reports: dict[tuple[str, str], dict[str, Any]] = {}
    for key, run in found.items():
        report = connection.execute(select(table.c.report).where(table.c.id == run)).scalar_one_or_none()
        if report is not None:
            reports[key] = dict(report)
    return reports
