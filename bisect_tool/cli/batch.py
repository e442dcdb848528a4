"""``bisect batch``: answer many specs, and keep their results in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import (
    changes_in,
    executor_options,
    question_options,
    read_settings_from,
    settings_options,
)
from bisect_tool.cli._searching import search_options, wishes_from

if TYPE_CHECKING:
    from bisect_tool.reports.batch.line import SpecLine
    from bisect_tool.runs.batch.finding import Member


@click.command(context_settings={"show_default": False})
@click.argument("specs", nargs=-1, required=True, metavar="DIR|FILE…")
@click.option(
    "--out", required=True, metavar="DIR", help="The folder of the results; a rerun goes on and writes it again."
)
@question_options
@search_options
@executor_options
@settings_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the last line.")
def command(specs: tuple[str, ...], out: str, **flags: Any) -> int:
    """Answer every spec in DIR, or the named FILEs, together: one installed build serves all of them.

    An invalid spec, or one that fails, does not stop the others. `--out` gets a page with all timelines (index.html),
    summary.jsonl, junit.xml, and JSON, Markdown, HTML and logs for each spec (docs/batch.md).

    Exit status: 0 every spec is answered, 3 some change is only narrowed down, 5 some spec could not be judged, 40 some spec
    has no answer; the others are errors (docs/exit-statuses.md).
    """
    from bisect_tool.runs.batch.batch import Batch
    from bisect_tool.runs.batch.folder import ResultsFolder
    from bisect_tool.runs.run import open_workshop

    settings = read_settings_from(flags)
    members, notes = _members(specs, flags)
    wishes = wishes_from(flags, settings)
    workshop = open_workshop(settings, os.environ)
    folder = ResultsFolder(
        Path(out), title=f"bisect batch: {', '.join(Path(path).name for path in specs[:3])}", notes=notes
    )
    with _view(plain=flags["plain"], quiet=flags["quiet"]) as view:
        lines = Batch(workshop, members, wishes, folder, view).run()
    return _end(lines, Path(out))


def _members(paths: tuple[str, ...], flags: dict[str, Any]) -> tuple[list[Member], tuple[str, ...]]:
    from bisect_tool.builds.channel import names
    from bisect_tool.runs.batch.finding import find, read_members

    found, notes = find([Path(path) for path in paths])
    return read_members(found, channels=names(), changes=changes_in(flags)), tuple(notes)


def _view(*, plain: bool, quiet: bool) -> Any:
    from rich.console import Console

    from bisect_tool.reports.batch.progress import choose_view

    return choose_view(Console(stderr=True), plain=plain, quiet=quiet)


def _end(lines: list[SpecLine], out: Path) -> int:
    """The last line on standard output, and the exit status. Raises `SpecsUnanswered`."""
    from bisect_tool.reports.batch.counts import counts_of
    from bisect_tool.runs.batch.outcome import last_line, status_of

    counts = counts_of(lines)
    click.echo(last_line(counts, out))
    return status_of(counts, out)
