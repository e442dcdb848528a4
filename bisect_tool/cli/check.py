"""``bisect check``: the mistakes of specs, and what running them would take."""

from __future__ import annotations

import os
from typing import Any

import click

from bisect_tool.cli._options import adjusted_specs, question_options, read_settings_from, settings_options


@click.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC…")
@click.option("--no-plan", is_flag=True, help="Only look for mistakes; needs no network.")
@click.option("--refresh", is_flag=True, help="Ask the index again, also what it was asked less than an hour ago.")
@question_options
@settings_options
def command(specs: tuple[str, ...], *, no_plan: bool, refresh: bool, **flags: Any) -> None:
    """Report every mistake in SPECs, and print the plan: builds, steps, downloads, time and disk."""
    settings = read_settings_from(flags)
    read = adjusted_specs(specs, flags)
    for one in read:
        click.echo(f"{one.path}: no mistakes")
    if no_plan:
        return
    from bisect_tool.runs.estimate import estimate_specs
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.runs.workshop import open_workshop

    workshop = open_workshop(settings, os.environ)
    for estimate in estimate_specs(workshop, read, Wishes(pre=flags["pre"], yanked=flags["yanked"], refresh=refresh)):
        click.echo()
        for line in estimate.lines():
            click.echo(line)
