"""``bisect run``: answer specs."""

from __future__ import annotations

import os
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import adjusted_specs, question_options, read_settings_from, settings_options
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
@click.option("--verify", metavar="N", help="Fresh trials of both sides of a change before it is reported (2).")
@click.option(
    "--scan",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="Spread N probes over the range first; left out: a few, where both ends agree; 0: none.",
)
@click.option(
    "--prior",
    type=click.Choice(["none", "history"]),
    default="none",
    help="history: look first where the commits between the builds fit the failure; the answer stays the same.",
)
@click.option(
    "--thin",
    metavar="MODE",
    help="auto: nightlies are looked at thin first where that saves downloads; the answer rests on whole ones. Or off.",
)
@click.option("--trust", is_flag=True, help="Believe one trial of a build: nothing is run again to verify it.")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.99,
    metavar="P",
    help="How sure the change of a failure that comes and goes must be before it is named (0.99).",
)
@click.option("--fresh", is_flag=True, help="Do not use stored results.")
@click.option("--refresh", is_flag=True, help="Ask the index again, also what it was asked less than an hour ago.")
@click.option("--explain", is_flag=True, help="Say for each decision what was known and why this build was next.")
@click.option(
    "--isolate", is_flag=True, help="Find out which part makes the change: Python, binaries, triton, CUDA, others."
)
@click.option(
    "--diagnose",
    is_flag=True,
    help="Find out which part of the compiler makes the failure, on both builds of a change.",
)
@click.option(
    "--diagnose-jobs",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Trials of a diagnosis that run side by side, also on one GPU (1).",
)
@click.option("--retry-untestable", is_flag=True, help="Try builds again that could not be installed or imported.")
@click.option(
    "--jobs", metavar="N", help="Slots, each with a trial at a time; left out: one for each GPU, 1 on the CPU."
)
@click.option("--ahead", metavar="N", help="Environments to make before they are needed, or off (2).")
@click.option("--max-downloads", metavar="SIZE", help="Bytes that the run may fetch, for instance 20GB.")
@click.option("--wait-for-gpu", metavar="SECONDS", help="Wait so long for a GPU that other processes use (0).")
@_format_options
@settings_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the report.")
def command(
    specs: tuple[str, ...],
    scan: int | None,
    *,
    fresh: bool,
    refresh: bool,
    explain: bool,
    isolate: bool,
    diagnose: bool,
    diagnose_jobs: int,
    retry_untestable: bool,
    **flags: Any,
) -> int:
    """Answer SPECs: a spec.yaml, its folder, or a plain script.

    Exit status: 0 every change found is exact, 3 narrowed, 4 nothing changes in the range, 5 nothing could be judged;
    10 and above are errors (docs/exit-statuses.md).
    """
    from bisect_tool.runs.run import Stopped, exit_status, open_workshop, run_specs
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.search.planner import Policy

    settings = read_settings_from(flags)
    read = adjusted_specs(specs, flags)
    wishes = Wishes(
        pre=flags["pre"],
        yanked=flags["yanked"],
        policy=Policy(verify=settings.verify, scan=scan, trust=flags.pop("trust"), confidence=flags.pop("confidence")),
        fresh=fresh,
        retry_untestable=retry_untestable,
        explain=explain,
        prior=flags.pop("prior"),
        isolate=isolate,
        diagnose=diagnose,
        diagnose_jobs=diagnose_jobs,
        thin=settings.thin,
        refresh=refresh or fresh,
    )
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
