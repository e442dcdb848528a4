"""Options of the commands that search: how thoroughly, with how much, and what else is found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = (
    click.option("--wait-for-gpu", metavar="SECONDS", help="Wait so long for a GPU that other processes use (0)."),
    click.option("--max-downloads", metavar="SIZE", help="Bytes that the run may fetch, for instance 20GB."),
    click.option("--ahead", metavar="N", help="Environments to make before they are needed, or off (2)."),
    click.option(
        "--jobs", metavar="N", help="Slots, each with a trial at a time; left out: one for each GPU, 1 on the CPU."
    ),
    click.option("--retry-untestable", is_flag=True, help="Try builds again that could not be installed or imported."),
    click.option(
        "--diagnose-jobs",
        type=click.IntRange(1, 64),
        default=1,
        metavar="N",
        help="Trials of a diagnosis that run side by side, also on one GPU (1).",
    ),
    click.option(
        "--diagnose",
        is_flag=True,
        help="Find out which part of the compiler makes the failure, on both builds of a change.",
    ),
    click.option(
        "--isolate",
        is_flag=True,
        help="Find out which part makes the change: Python, binaries, triton, CUDA, others.",
    ),
    click.option("--explain", is_flag=True, help="Say for each decision what was known and why this build was next."),
    click.option("--refresh", is_flag=True, help="Ask the index again, also what it was asked less than an hour ago."),
    click.option("--fresh", is_flag=True, help="Do not use stored results."),
    click.option(
        "--confidence",
        type=click.FloatRange(0.5, 1, max_open=True),
        default=0.99,
        metavar="P",
        help="How sure the change of a failure that comes and goes must be before it is named (0.99).",
    ),
    click.option("--trust", is_flag=True, help="Believe one trial of a build: nothing is run again to verify it."),
    click.option(
        "--thin",
        metavar="MODE",
        help="auto: nightlies are looked at thin first where that saves downloads; the answer rests on whole ones. Or off.",
    ),
    click.option(
        "--prior",
        type=click.Choice(["none", "history"]),
        default="none",
        help="history: look first where the commits between the builds fit the failure; the answer stays the same.",
    ),
    click.option(
        "--scan",
        type=click.IntRange(0, 1000),
        metavar="N",
        help="Spread N probes over the range first; left out: a few, where both ends agree; 0: none.",
    ),
    click.option("--verify", metavar="N", help="Fresh trials of both sides of a change before it is reported (2)."),
)


def search_options(function: F) -> F:
    """How the search goes."""
    for option in _OPTIONS:
        function = option(function)
    return function


def wishes_from(flags: dict[str, Any], settings: Settings) -> Wishes:
    """What the command line adds to the specs; takes it out of `flags`, but for `pre` and `yanked`."""
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.search.planner import Policy

    names = (
        "scan",
        "trust",
        "confidence",
        "fresh",
        "refresh",
        "explain",
        "prior",
        "isolate",
        "diagnose",
        "diagnose_jobs",
    )
    own = {name: flags.pop(name) for name in (*names, "retry_untestable")}
    return Wishes(
        pre=flags["pre"],
        yanked=flags["yanked"],
        policy=Policy(verify=settings.verify, scan=own["scan"], trust=own["trust"], confidence=own["confidence"]),
        fresh=own["fresh"],
        retry_untestable=own["retry_untestable"],
        explain=own["explain"],
        prior=own["prior"],
        isolate=own["isolate"],
        diagnose=own["diagnose"],
        diagnose_jobs=own["diagnose_jobs"],
        thin=settings.thin,
        refresh=own["refresh"] or own["fresh"],
    )
