"""``bisect diagnose``: which part of the compiler makes the failures that a run has found."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options
from bisect_tool.cli.run import command as run

if TYPE_CHECKING:
    from bisect_tool.store.results import Results

_PLACES = frozenset({"cache", "github_api", "index", "max_cache", "nightly_index", "repo", "store", "wheelhouse"})


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})
@click.argument("asked", metavar="RUN|SPEC")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF bisect run]…")
@settings_options
def command(asked: str, options: tuple[str, ...], **flags: Any) -> int:
    """Find out which part of the compiler makes the failures of RUN, or of a SPEC.

    RUN is the beginning of an id (`bisect replay` lists them), `last` the newest run; a SPEC is searched first, as by `bisect
    run`. What is known already is not run again. Everything that `bisect run` takes may follow: `--json FILE`,
    `--diagnose-jobs N`, …

    On the build with the failure and on its neighbour without: a ladder of backends, dynamic and static shapes, CUDA graphs;
    then PyTorch's own compiler bisector, the generated code of both, the minifier (docs/gpu.md).
    """
    given = [word for name, value in flags.items() if value for word in (f"--{name.replace('_', '-')}", str(value))]
    first = [asked] if Path(asked).exists() else _words_of_run(asked, flags)
    words = [*first, "--diagnose", *given, *options]
    with run.make_context("run", words) as context:
        return int(run.invoke(context) or 0)


def _words_of_run(wanted: str, flags: dict[str, Any]) -> list[str]:
    """The command line that a run says repeats it."""
    import os

    from bisect_tool.cli.replay import find_run
    from bisect_tool.runs.workshop import open_workshop

    settings = read_settings_from({name: flags[name] for name in _PLACES})
    results: Results = open_workshop(settings, os.environ).results(lambda line: click.echo(line, err=True))
    try:
        found = find_run(results.runs(), wanted)
        report = results.report_of(found.id)
    finally:
        results.close()
    if report is None:
        raise click.UsageError(f"the run {found.id[:12]} never came to a report: run its spec again")
    words = shlex.split(str(report["repeat"]))
    return words[words.index("run") + 1 :]
