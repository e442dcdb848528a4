"""``bisect builds``: what builds there are in a range, and what is known of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from bisect_tool.cli._options import adjusted_specs, changes_in, question_options, read_settings_from, settings_options


@click.command()
@click.argument("spec", required=False, metavar="[SPEC]")
@click.option("--commits", is_flag=True, help="Read from every build the commit that it was made from.")
@click.option("--json", "to_json", metavar="FILE", help="Write the list as JSON; - is the standard output.")
@question_options
@settings_options
def command(spec: str | None, *, commits: bool, to_json: str | None, **flags: Any) -> None:
    """List builds: date, version, listed or only hidden, size, whether they are here, and their commit.

    With a SPEC its range and package are taken, and the known state of each case is shown. Without one, `--package`,
    `--channel`, `--from`, `--to`, `--variant`, `--python` and `--device` say what to list.
    """
    from bisect_tool.builds.channel import names
    from bisect_tool.reports.builds_list import render
    from bisect_tool.runs.catalogue import list_builds, list_builds_of
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.runs.workshop import open_workshop
    from bisect_tool.spec.reading import spec_of_flags

    settings = read_settings_from(flags)
    workshop = open_workshop(settings, os.environ)
    wishes = Wishes(pre=flags["pre"], yanked=flags["yanked"])
    if spec is None:
        wanted = spec_of_flags(changes_in(flags), channels=names())
        found = list_builds(workshop, wanted, wishes, commits=commits, tell=tell)
    else:
        (read,) = adjusted_specs((spec,), flags)
        found = list_builds_of(workshop, read, wishes, commits=commits, tell=tell)
    tell("")
    if to_json == "-":
        click.echo(found.model_dump_json(indent=2))
        return
    if to_json is not None:
        from bisect_tool.reports.writing import write

        write(Path(to_json), found.model_dump_json(indent=2) + "\n")
    click.echo(render(found), nl=False)


def tell(line: str) -> None:
    """Work that takes a while, for whoever looks at a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{line}", nl=False, err=True)
