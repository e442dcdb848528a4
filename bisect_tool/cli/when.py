"""``bisect when``: when did this regress? From what is known already, without running anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options

if TYPE_CHECKING:
    from bisect_tool.service.finding import Finding, Query
    from bisect_tool.settings import Settings

LONGEST = 1_048_576  # characters of a pasted text that are read


@click.command()
@click.argument("query", metavar="QUERY")
@click.option("--package", metavar="NAME", help="Only answers about this package.")
@click.option("--device", metavar="KIND", help="Only answers about this kind of device, for instance cpu.")
@click.option("--most", type=click.IntRange(1, 20), default=5, metavar="N", help="Answers that are shown at most (5).")
@click.option("--server", metavar="URL", help="Ask this server (`bisect serve`); or BISECT_SERVER.")
@click.option("--local", is_flag=True, help="Ask the own store, also where the settings name a server.")
@click.option("--json", "to_json", is_flag=True, help="The finding as JSON.")
@settings_options
def command(query: str, *, local: bool, to_json: bool, **flags: Any) -> int:
    """When did this regress? Nothing is run and nothing is fetched.

    QUERY is a spec, its folder or a script; the name of an operator, a failure, a spec or a package; the address of an issue; a
    line of an error; or - for a traceback from the standard input.

    Exit status: 0 it is known, 3 only something near it or a part of it is known, 4 nothing is.
    """
    asked = _query(query, flags)
    settings = read_settings_from(flags)
    server = None if local else settings.server
    finding = _ask_server(server, settings.token, asked) if server else _ask_store(settings, asked)
    click.echo(_as_json(finding) if to_json else _as_text(finding, server or ""), nl=False)
    return {"yes": 0, "partly": 3, "no": 4}[finding.found]


def _query(text: str, flags: dict[str, Any]) -> Query:
    from bisect_tool.service.finding import By, Query

    narrowed = {name: flags.pop(name) for name in ("package", "device", "most")}
    if text == "-":
        return Query(sys.stdin.buffer.read(4 * LONGEST).decode("utf-8", "replace")[:LONGEST], By.TEXT, **narrowed)
    if _is_spec(text):
        from bisect_tool.service.asking_spec import query_of

        return query_of(Path(text), narrowed)
    return Query(text, **narrowed)


def _is_spec(text: str) -> bool:
    """Whether it names a file or a folder; a text with newlines never does."""
    try:
        return "\n" not in text and len(text) < 4096 and Path(text).exists() and text not in {".", ".."}
    except (OSError, ValueError):
        return False


def _ask_store(settings: Settings, query: Query) -> Finding:
    """Straight from the file of the cache where that has everything; else through the store, which brings it up to date."""
    from bisect_tool.service.looking_up import look_up_in

    if (path := _file_of(settings)) is not None:
        from bisect_tool.service.askers import open_file
        from bisect_tool.store.found_asking import is_filled

        asker = open_file(path)
        if asker is not None and is_filled(asker):
            return look_up_in(asker, [query])[0]
    return _ask_open_store(settings, query)


def _file_of(settings: Settings) -> Path | None:
    """The file of the results database; None where it is on a server."""
    if settings.store is None:
        return settings.cache / "results.sqlite"
    return Path(settings.store.removeprefix("sqlite:///")) if settings.store.startswith("sqlite:///") else None


def _ask_open_store(settings: Settings, query: Query) -> Finding:
    from bisect_tool.runs.workshop import open_workshop
    from bisect_tool.service.looking_up import look_up

    workshop = open_workshop(settings, os.environ)
    with workshop.results(lambda line: click.echo(line, err=True)) as results:
        return look_up(results, [query])[0]


def _ask_server(server: str, token: str | None, query: Query) -> Finding:
    from bisect_tool.service.asking_server import ask_server, open_server

    return ask_server(open_server(server, token, lambda line: click.echo(line, err=True)), [query])[0]


def _as_json(finding: Finding) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(finding), indent=2, ensure_ascii=False) + "\n"


def _as_text(finding: Finding, server: str) -> str:
    from bisect_tool.service.finding_text import render

    return render(finding, server.rstrip("/"))
