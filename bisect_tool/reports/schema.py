"""The JSON Schema of the report."""

from __future__ import annotations

from typing import Any

from bisect_tool.reports.report import Report


def report_schema() -> dict[str, Any]:
    """The schema of schema version 1, Draft 2020-12."""
    schema = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
