"""JSON, schema version 1: the report itself."""

from __future__ import annotations

from bisect_tool.reports.report import Report

SUFFIX = ".json"


def render(report: Report) -> str:
    """The report as JSON text, which `Report.model_validate_json` reads back."""
    return report.model_dump_json(indent=2) + "\n"
