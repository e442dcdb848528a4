"""``bisect try``: all cases of a spec on one build."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import (
    adjusted_specs,
    check_cases,
    question_options,
    read_settings_from,
    settings_options,
    words_given,
)

if TYPE_CHECKING:
    from bisect_tool.reports.attempt import Attempt

# What belongs to this command alone; everything else is handed on to the next one.
OWN = frozenset(
    {"build", "cases", "fresh", "lines", "max_downloads", "plain", "quiet", "repeat", "retry_untestable"}
) | {
    "to_json",
    "wait_for_gpu",
}


@click.command(name="try")
@click.argument("spec", metavar="SPEC")
@click.option(
    "--build", metavar="BUILD", help="A version, a date or a wheel's file; left out: the newest of the range."
)
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only this case; may be repeated.")
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, metavar="N", help="Trials of each case (1).")
@click.option("--lines", type=click.IntRange(0, 200), default=6, metavar="N", help="Lines of output to show (6).")
@question_options
@click.option("--fresh", is_flag=True, help="Do not use stored results.")
@click.option("--retry-untestable", is_flag=True, help="Try again a build that could not be installed or imported.")
@click.option("--max-downloads", metavar="SIZE", help="Bytes that may be fetched, for instance 5GB.")
@click.option("--wait-for-gpu", metavar="SECONDS", help="Wait so long for a GPU that other processes use (0).")
@click.option("--json", "to_json", metavar="FILE", help="Write what was found as JSON; - is the standard output.")
@settings_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the result.")
def command(spec: str, *, build: str | None, cases: tuple[str, ...], to_json: str | None, **flags: Any) -> int:
    """Run all cases of SPEC on one build and show them side by side: is the spec right?

    SPEC is a spec.yaml, its folder, or a plain script. Shown are each case's state, the failures that a run would learn and
    which names of the spec fit them, whether the controls pass, and what to do next. Trials are stored: `bisect run` does not
    repeat them.

    Exit status: 0 every case was judged and no control fails, 5 something could not be judged; 10 and above are errors
    (docs/exit-statuses.md). docs/try.md has more.
    """
    from bisect_tool.cli.run import view_for
    from bisect_tool.errors import Answered
    from bisect_tool.runs.run import open_workshop
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.runs.trying.attempting import AttemptStopped, Desk, attempt
    from bisect_tool.runs.trying.look import Look

    given = words_given(OWN)
    settings = read_settings_from(flags)
    (read,) = adjusted_specs((spec,), flags)
    check_cases(read, cases)
    fresh = flags["fresh"]
    wishes = Wishes(
        pre=flags["pre"], yanked=flags["yanked"], fresh=fresh, refresh=fresh, retry_untestable=flags["retry_untestable"]
    )
    workshop = open_workshop(settings, os.environ)
    look = Look(build, cases, flags["repeat"], flags["lines"], given)
    results = workshop.results()
    try:
        with view_for(plain=flags["plain"], quiet=flags["quiet"]) as view:
            desk = Desk(workshop, results, wishes, view)
            try:
                made, _, _ = attempt(desk, read, look)
            finally:
                desk.close()
    except AttemptStopped as stopped:
        deliver(stopped.attempt, to_json)
        raise stopped.error from stopped
    finally:
        results.close()
    deliver(made, to_json)
    return Answered.EXACT if made.outcome == "judged" else Answered.NOT_JUDGED


def deliver(made: Attempt, to_json: str | None) -> None:
    """Print the attempt, in the width of the terminal, and write its JSON where that was asked for."""
    from bisect_tool.reports import attempt_text

    if to_json == "-":
        click.echo(made.model_dump_json(indent=2))
        return
    if to_json is not None:
        from bisect_tool.reports.writing import write

        write(Path(to_json), made.model_dump_json(indent=2) + "\n")
    from rich.console import Console

    console = Console()
    if sys.stdout.isatty():
        console.print(attempt_text.render_rich(made, console.width))
    else:
        click.echo(attempt_text.render(made, console.width), nl=False)
