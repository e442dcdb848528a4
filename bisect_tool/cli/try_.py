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
    confining_options,
    question_options,
    read_settings_from,
    settings_options,
    words_given,
)

if TYPE_CHECKING:
    from bisect_tool.errors import Answered
    from bisect_tool.reports.attempt import Attempt
    from bisect_tool.runs.trying.discovery import Wish

# What belongs to this command alone; everything else is handed on to the next one.
OWN = frozenset({
    "build", "cases", "discover", "fresh", "lines", "max_downloads", "max_time", "max_trials", "plain", "quiet", "repeat",
    "report", "retry_untestable", "to_json", "wait_for_gpu", "writes",
})  # fmt: skip


@click.command(name="try")
@click.argument("spec", metavar="SPEC")
@click.option(
    "--build", metavar="BUILD", help="A version, a date or a wheel's file; left out: the newest of the range."
)
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only this case; may be repeated.")
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, metavar="N", help="Trials of each case (1).")
@click.option("--lines", type=click.IntRange(0, 200), default=6, metavar="N", help="Lines of output to show (6).")
@click.option(
    "--discover", is_flag=True, help="When the failure does not show: look for a configuration in which it does."
)
@click.option(
    "--report",
    metavar="SOURCE",
    help="With --discover: the report (a file, `-`, an issue), which says what to try first.",
)
@click.option("--max-trials", type=click.IntRange(1, 10000), metavar="N", help="With --discover: looks at most (40).")
@click.option(
    "--max-time", type=click.FloatRange(min=1), metavar="SECONDS", help="With --discover: begin nothing later (1800)."
)
@click.option("--write", "writes", is_flag=True, help="With --discover: write the spec that shows the failure.")
@question_options
@click.option("--fresh", is_flag=True, help="Do not use stored results.")
@click.option("--retry-untestable", is_flag=True, help="Try again a build that could not be installed or imported.")
@click.option("--max-downloads", metavar="SIZE", help="Bytes that may be fetched, for instance 5GB.")
@click.option("--wait-for-gpu", metavar="SECONDS", help="Wait so long for a GPU that other processes use (0).")
@click.option("--json", "to_json", metavar="FILE", help="Write what was found as JSON; - is the standard output.")
@settings_options
@confining_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the result.")
def command(spec: str, *, build: str | None, cases: tuple[str, ...], to_json: str | None, **flags: Any) -> int:
    """Run all cases of SPEC on one build and show them side by side: is the spec right?

    SPEC is a spec.yaml, its folder, or a plain script. Shown are each case's state, the failures that a run would learn and
    which names of the spec fit them, whether the controls pass, and what to do next. Trials are stored: `bisect run` does not
    repeat them.

    With `--discover`, when the failure does not show: device, dtype, dynamic shapes, caches, threads, variables, repeats and
    the builds that spec and report name are changed, one at a time and then in pairs, until it does.

    Exit status: 0 every case was judged and no control fails, with `--discover` the failure shows; 4 no configuration shows
    it; 5 something could not be judged; 10 and above are errors (docs/exit-statuses.md). docs/try.md has more.
    """
    from bisect_tool.cli.run import view_for
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.runs.trying.attempting import AttemptStopped, Desk, attempt
    from bisect_tool.runs.trying.discovery import discover
    from bisect_tool.runs.trying.look import Look
    from bisect_tool.runs.workshop import open_workshop

    given = words_given(OWN)
    settings = read_settings_from(flags)
    (read,) = adjusted_specs((spec,), flags)
    check_cases(read, cases)
    wish = _wish(flags, settings.github_api)
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
                made, session, number = attempt(desk, read, look)
                if wish is not None and made.build.unusable is None:
                    made = discover(desk, made, session, number, look, wish)
            finally:
                desk.close()
    except AttemptStopped as stopped:
        deliver(stopped.attempt, to_json)
        raise stopped.error from stopped
    finally:
        results.close()
    deliver(made, to_json)
    return exit_status(made)


def exit_status(made: Attempt) -> Answered:
    """That of the discovery, where there was one."""
    from bisect_tool.errors import Answered

    if made.discovery is not None:
        return Answered.EXACT if made.discovery.found is not None else Answered.NO_CHANGE
    return Answered.EXACT if made.outcome == "judged" else Answered.NOT_JUDGED


def _wish(flags: dict[str, Any], api: str | None) -> Wish | None:
    """What `--discover` and its options ask for."""
    from bisect_tool.runs.trying.discovery import Wish
    from bisect_tool.search.configurations import Limits

    names = ("report", "max_trials", "max_time")
    if not flags["discover"]:
        for name in (*names, "writes"):
            if flags[name]:
                raise click.UsageError(f"--{name.replace('_', '-').replace('writes', 'write')} goes with --discover.")
        return None
    given = [word for name in names if flags[name] for word in (f"--{name.replace('_', '-')}", str(flags[name]))]
    usual = Limits()
    limits = Limits(flags["max_trials"] or usual.looks, flags["max_time"] or usual.seconds)
    return Wish(limits, _text_of(flags["report"], api), flags["writes"], tuple(given))


def _text_of(report: str | None, api: str | None) -> str:
    if report is None:
        return ""
    from bisect_tool.history.source import token_in
    from bisect_tool.runs.report_source import ReportAccess, open_report

    found = open_report(report, ReportAccess(token_in(os.environ), api, sys.stdin.buffer.read))
    return f"{found.title}\n{found.text}"


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
        # Commands to copy are left whole: the terminal may break them, not we.
        console.print(attempt_text.render_rich(made, console.width), soft_wrap=True)
    else:
        click.echo(attempt_text.render(made, console.width), nl=False)
