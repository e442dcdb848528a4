"""``bisect worker``: work on the questions of a service."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import confining_options, executor_options, read_settings_from, settings_options

if TYPE_CHECKING:
    from bisect_tool.stopping import Stop


@click.command()
@click.option("--at-once", type=click.IntRange(1, 64), default=1, metavar="N", help="Questions at a time (1).")
@click.option("--lanes", metavar="NAMES", help="cpu, any, cuda, with commas; left out: all that this host has.")
@click.option("--once", is_flag=True, help="End when nothing is left to do.")
@click.option(
    "--drain", is_flag=True, help="Finish what was begun before it ends on SIGTERM; else others go on with it."
)
@click.option("--lease", metavar="SECONDS", help="Seconds without a sign of life after which another goes on (180).")
@click.option("--jobs", metavar="N", help="Slots of each question; left out: one for each GPU, 1 on the CPU.")
@click.option("--wait-for-gpu", metavar="SECONDS", help="Wait so long for a GPU that other processes use (0).")
@executor_options
@settings_options
@confining_options
def command(at_once: int, lanes: str | None, *, once: bool, drain: bool, **flags: Any) -> int:
    """Take questions from the queue of a service and answer them, until Ctrl-C or SIGTERM.

    The service and its workers share the results database: name it with --store. A second Ctrl-C or SIGTERM stops at once.
    Repros run in a sandbox, unless `--sandbox off` says that nobody but you asks (docs/security.md).
    """
    from bisect_tool.runs.confining import for_strangers
    from bisect_tool.runs.workshop import open_workshop
    from bisect_tool.service.crew import Crew
    from bisect_tool.service.lanes import chosen_lanes

    settings = for_strangers(read_settings_from(flags))
    workshop = open_workshop(settings, os.environ)
    with workshop.results(_say) as results:
        crew = Crew(workshop, results.database, chosen_lanes(lanes, os.environ), at_once, waits=drain, tell=_say)
        crew.start(until_idle=once)
        _stop_on_signals(crew.stop)
        crew.join()
    return 0


def _say(line: str) -> None:
    click.echo(line, err=True)


def _stop_on_signals(stop: Stop) -> None:
    """The first signal lets the workers end what they do as they are told to; the second ends everything."""

    def end(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set:
            os._exit(130)  # the children die with us, and the leases run out
        _say("stopping; once more: at once")
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
