"""``bisect batch``: answer many specs, and keep their results in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import (
    changes_in,
    confining_options,
    executor_options,
    question_options,
    read_settings_from,
    settings_options,
)
from bisect_tool.cli._searching import search_options, wishes_from

if TYPE_CHECKING:
    from bisect_tool.reports.batch.line import SpecLine
    from bisect_tool.runs.batch.finding import Member
    from bisect_tool.runs.batch.since import Since
    from bisect_tool.runs.workshop import Workshop


@click.command(context_settings={"show_default": False})
@click.argument("specs", nargs=-1, required=True, metavar="DIR|FILE…")
@click.option(
    "--out", required=True, metavar="DIR", help="The folder of the results; a rerun goes on and writes it again."
)
@click.option(
    "--shard", metavar="I/N", help="Only part I of N, from 0; as N alone I is Kubernetes' JOB_COMPLETION_INDEX."
)
@click.option(
    "--since",
    metavar="WHAT",
    help="Look again at failures that were open: in an earlier --out, or before a date or build.",
)
@click.option("--merge", is_flag=True, help="The DIRs are results, such as those of shards: one page for all of them.")
@question_options
@search_options
@executor_options
@settings_options
@confining_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the last line.")
def command(specs: tuple[str, ...], out: str, *, merge: bool, **flags: Any) -> int:
    """Answer every spec in DIR, or the named FILEs, together: one installed build serves all of them.

    An invalid spec, or one that fails, does not stop the others. `--out` gets a page with all timelines (index.html),
    summary.jsonl, junit.xml, and JSON, Markdown, HTML and logs for each spec (docs/batch.md).

    Exit status: 0 every spec is answered, 3 some change is only narrowed down, 5 some spec could not be judged, 40 some spec
    has no answer; the others are errors (docs/exit-statuses.md).
    """
    paths, folder = [Path(path) for path in specs], Path(out)
    if merge:
        from bisect_tool.runs.batch.merging import merge as merge_folders

        return _end(merge_folders(paths, folder), folder)
    return _end(_answer(paths, folder, flags), folder)


def _answer(paths: list[Path], out: Path, flags: dict[str, Any]) -> list[SpecLine]:
    from bisect_tool.runs.batch.batch import Batch
    from bisect_tool.runs.batch.folder import ResultsFolder
    from bisect_tool.runs.workshop import open_workshop

    shard, since = flags.pop("shard"), flags.pop("since")
    settings = read_settings_from(flags)
    members, notes = _members(paths, shard, flags)
    wishes = wishes_from(flags, settings)
    workshop = open_workshop(settings, os.environ)
    earlier = None
    if since is not None:
        earlier = _earlier(workshop, since, members, out)
        members, more = earlier.members(members)
        notes += more
    folder = ResultsFolder(out, title=_title(paths), notes=tuple(notes))
    with _view(plain=flags["plain"], quiet=flags["quiet"]) as view:
        return Batch(workshop, members, wishes, folder, view, earlier).run()


def _title(paths: list[Path]) -> str:
    more = " …" if len(paths) > 3 else ""
    return f"bisect batch: {', '.join(path.resolve().name for path in paths[:3])}{more}"


def _members(paths: list[Path], shard: str | None, flags: dict[str, Any]) -> tuple[list[Member], list[str]]:
    from bisect_tool.builds.channel import names
    from bisect_tool.runs.batch.finding import find, read_members
    from bisect_tool.runs.batch.shards import members_of, read_shard

    part = read_shard(shard, os.environ)
    found, notes = find(paths)
    members = read_members(found, channels=names(), changes=changes_in(flags))
    if part is None:
        return members, notes
    mine = members_of(members, part)
    return mine, [*notes, f"part {part}: {len(mine)} of {len(members)} specs"]


def _earlier(workshop: Workshop, what: str, members: list[Member], out: Path) -> Since:
    from bisect_tool.runs.batch.since import read_since

    results = workshop.results()
    try:
        return read_since(what, members, out, results)
    finally:
        results.close()


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
