"""``bisect schema``: the JSON Schema of a spec."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--report", is_flag=True, help="The schema of a report instead.")
def command(*, report: bool) -> None:
    """Print the JSON Schema of a spec, for editors."""
    if report:
        from bisect_tool.reports.schema import report_schema as schema
    else:
        from bisect_tool.spec.schema import json_schema as schema
    click.echo(json.dumps(schema(), indent=2))
