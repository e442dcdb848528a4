"""Watching a question on a server, with the views of `bisect run`, and its end as that of a run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from bisect_tool.errors import BisectError, Interrupted, MachineFault
from bisect_tool.reports import events
from bisect_tool.reports.formats import terminal
from bisect_tool.reports.live import View, choose_view
from bisect_tool.reports.report import Report
from bisect_tool.service.client import Client, Told, error_of
from bisect_tool.service.event_reading import read_event

_DEFAULT_ADVICE = "look at the page of the question"


def follow(client: Client, question: str, *, plain: bool, quiet: bool) -> None:
    """Show the events of a question on the standard error until it has ended."""
    with choose_view(Console(stderr=True), plain=plain, quiet=quiet) as view:
        for told in client.events(question):
            show(told, view)


def show(told: Told, view: View) -> None:
    """Show one event; what only the service tells becomes a line."""
    event = read_event(told.kind, told.body)
    if event is None and told.kind == "job_queued":
        event = events.Notice("waits for a worker")
    elif event is None and told.kind == "job_started":
        event = events.Notice("a worker has taken it")
    elif event is None and told.kind == "stopping":
        event = events.Notice("the server stops; waiting for it to come back")
    if event is not None:
        view(event)


def end_of(client: Client, question: str) -> int:
    """Print the report of a question that has ended; gives the exit status of a run that ends so. Raises what stopped it."""
    from bisect_tool.runs.run import exit_status  # with all that runs: only now, while nobody waits for the first line

    found = client.question(question)
    stored = client.report(question)
    report = None if stored is None else Report.model_validate(stored)
    if report is not None:
        _print(report)
    if found["state"] == "answered" and report is not None:
        return int(exit_status([report]))
    raise _stopped(found)


def _print(report: Report) -> None:
    if sys.stdout.isatty():
        Console().print(terminal.render_rich(report))
    else:
        click.echo(terminal.render(report))


def _stopped(found: Mapping[str, Any]) -> BisectError:
    if found["state"] == "cancelled":
        advice = "submit it again: the search goes on from what is known"
        return Interrupted("the question was cancelled", where=found["address"], advice=advice)
    error = found.get("error") or {}
    kind = error_of(error.get("status")) if error else MachineFault
    what = str(error.get("what") or f"the question has no answer: it is {found['state']}")
    return kind(what, where=error.get("where") or found["address"], advice=error.get("advice") or _DEFAULT_ADVICE)
