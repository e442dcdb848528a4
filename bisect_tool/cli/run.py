"""``bisect run``: answer specs."""

from __future__ import annotations

import os
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import (
    adjusted_specs,
    confining_options,
    executor_options,
    question_options,
    read_settings_from,
    settings_options,
)
from bisect_tool.cli._searching import search_options, wishes_from
from bisect_tool.reports import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bisect_tool.reports.report import Report

FORMATS = tuple(sorted(module.name for module in pkgutil.iter_modules(formats.__path__) if module.name != "terminal"))


def _format_options(function: Any) -> Any:
    for name in reversed(FORMATS):
        function = click.option(
            f"--{name}", f"to_{name}", metavar="FILE", help=f"Write the report as {name}; a folder for several specs."
        )(function)
    return function


@click.command(context_settings={"show_default": False})
@click.argument("specs", nargs=-1, required=True, metavar="SPEC…")
@question_options
@search_options
@executor_options
@_format_options
@settings_options
@confining_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the report.")
def command(
    specs: tuple[str, ...],
    **flags: Any,
) -> int:
    """Answer SPECs: a spec.yaml, its folder, or a plain script.

    Exit status: 0 every change found is exact, 3 narrowed, 4 nothing changes in the range, 5 nothing could be judged;
    10 and above are errors (docs/exit-statuses.md).
    """
    from bisect_tool.runs.run import Stopped, exit_status, run_specs
    from bisect_tool.runs.workshop import open_workshop

    settings = read_settings_from(flags)
    read = adjusted_specs(specs, flags)
    wishes = wishes_from(flags, settings)
    workshop = open_workshop(settings, os.environ)
    try:
        with view_for(plain=flags["plain"], quiet=flags["quiet"]) as view:
            reports = run_specs(workshop, read, wishes, view)
    except Stopped as stopped:
        _deliver(stopped.reports, flags)
        raise stopped.error from stopped
    _deliver(reports, flags)
    return exit_status(reports)


def view_for(*, plain: bool, quiet: bool) -> Any:
    """What shows a run on the standard error: the live view on a terminal, else plain lines, or nothing."""
    from rich.console import Console

    from bisect_tool.reports.live import choose_view

    return choose_view(Console(stderr=True), plain=plain, quiet=quiet)


def _deliver(reports: Sequence[Report], flags: dict[str, Any]) -> None:
    """Print the reports, and write the files that were asked for."""
    from bisect_tool.reports.writing import deliver

    for report in reports:
        _print(report)
    wanted = {name: flags[f"to_{name}"] for name in FORMATS if flags[f"to_{name}"]}
    for name, path in wanted.items():
        deliver(reports, name, Path(path))


def _print(report: Report) -> None:
    from bisect_tool.reports.formats import terminal

    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(terminal.render_rich(report))
    else:
        click.echo(terminal.render(report))
