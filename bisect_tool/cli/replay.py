"""``bisect replay``: make the decisions of a run again, from its record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options

if TYPE_CHECKING:
    from bisect_tool.store.results import Results, StoredRun

SHOWN = 20  # runs in the list
ID = 12  # characters of an id that are shown


@click.command()
@click.argument("run", required=False)
@click.option("--quiet", is_flag=True, help="Nothing but the result.")
@settings_options
def command(run: str | None, *, quiet: bool, **flags: Any) -> int:
    """Make every decision of RUN again from its record, and compare them to the byte.

    RUN is the beginning of an id, as listed when it is left out; `last` is the newest run. Exit status: 0 all decisions are
    the same, 1 at least one is not.
    """
    import os

    from bisect_tool.runs.workshop import open_workshop

    workshop = open_workshop(read_settings_from(dict(flags)), os.environ)
    results = workshop.results(lambda line: click.echo(line, err=True))
    try:
        if run is None:
            return _list(results)
        found = find_run(results.runs(), run)
        return _checked(found, _lines(results, found.id), quiet=quiet)
    finally:
        results.close()


def _list(results: Results) -> int:
    runs = results.runs()
    for run in runs[:SHOWN]:
        click.echo(f"{run.id[:ID]}  {run.started}  {run.spec:<30} {run.outcome or 'never ended'}")
    if len(runs) > SHOWN:
        click.echo(f"and {len(runs) - SHOWN} older ones")
    if not runs:
        click.echo("this cache knows no run")
    return 0


def find_run(runs: list[StoredRun], wanted: str) -> StoredRun:
    """The run whose id begins with `wanted`; `last` is the newest. Raises `click.UsageError`."""
    found = runs[:1] if wanted == "last" else [run for run in runs if run.id.startswith(wanted)]
    if len(found) != 1:
        many = "several runs begin" if found else "no run begins"
        raise click.UsageError(f"{many} with {wanted!r}; `bisect replay` without a name lists them")
    return found[0]


def _lines(results: Results, run: str) -> list[str]:
    lines = results.decisions(run)
    if not lines:
        raise click.UsageError("this run has no record: it was made by an older version, or it never began to search")
    other = json.loads(lines[0]).get("same as")
    return results.decisions(other) if other else lines


def _checked(run: StoredRun, lines: list[str], *, quiet: bool) -> int:
    from bisect_tool.errors import CacheBroken

    try:
        return _replay(run, lines, quiet=quiet)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise CacheBroken(
            f"the record of this run cannot be read: {error}",
            where=f"run {run.id[:ID]}",
            advice="nothing but `bisect replay` needs it; results and reports are not affected",
        ) from error


def _replay(run: StoredRun, lines: list[str], *, quiet: bool) -> int:
    from bisect_tool import __version__
    from bisect_tool.search.explaining import sentences
    from bisect_tool.search.record import FORMAT, replayed

    opening = json.loads(lines[0])
    different = []
    for stored, again in replayed(lines):
        line = json.loads(stored)
        if not quiet:
            click.echo("\n".join(sentences(opening, line, {})))
        if stored != again:
            different.append(line["n"])
            click.echo(f"  DIFFERENT, stored: {stored}\n             again: {again}")
    total, version = len(lines) - 1, opening["version"]
    if not different:
        click.echo(f"{run.spec}: all {total} decisions are the same")
        return 0
    whose = "" if version == __version__ else f" (they were made by version {version}, this is {__version__})"
    if opening["format"] < FORMAT:
        whose += "; since then decisions with weights, and on builds that say nothing any more, are made otherwise"
    click.echo(f"{run.spec}: {len(different)} of {total} decisions differ, the first is number {different[0]}{whose}")
    return 1
