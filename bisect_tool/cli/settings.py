"""``bisect settings``: which settings hold, and where each comes from."""

from __future__ import annotations

import click

from bisect_tool.cli._options import confining_options, read_settings_from, settings_options


@click.command()
@settings_options
@confining_options
def command(**flags: str | None) -> None:
    """Print every setting with its value and where it comes from."""
    for name, value, source in read_settings_from(dict(flags)).explain():
        click.echo(f"{name:<15} {value:<40} {source}")
