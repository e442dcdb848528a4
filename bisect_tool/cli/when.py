"""``bisect when``: when did this regress? From what is known already, without running anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options

if TYPE_CHECKING:
    from bisect_tool.service.finding import Finding, Query
    from bisect_tool.settings import Settings

LONGEST = 1_048_576  # characters of a pasted text that are read
MOST_AT_ONCE = 100


@click.command()
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@click.option("--package", metavar="NAME", help="Only answers about this package.")
@click.option("--device", metavar="KIND", help="Only answers about this kind of device, for instance cpu.")
@click.option("--most", type=click.IntRange(1, 20), default=5, metavar="N", help="Answers that are shown at most (5).")
@click.option("--server", metavar="URL", help="Ask this server (`bisect serve`); or BISECT_SERVER.")
@click.option("--local", is_flag=True, help="Ask the own store, also where the settings name a server.")
@click.option("--json", "to_json", is_flag=True, help="The finding as JSON.")
@settings_options
def command(queries: tuple[str, ...], *, local: bool, to_json: bool, **flags: Any) -> int:
    """When did this regress? Nothing is run and nothing is fetched.

    QUERY is a spec, its folder or a script; the name of an operator, a failure, a spec or a package; the address of an issue; a
    line of an error; or - for a traceback from the standard input. Up to 100 of them are looked up at once.

    Exit status: 0 all is known, 3 only something near it or a part of it is known, 4 nothing is.
    """
    if len(queries) > MOST_AT_ONCE:
        raise click.UsageError(f"{len(queries)} queries; at most {MOST_AT_ONCE} at once")
    narrowed = {name: flags.pop(name) for name in ("package", "device", "most")}
    asked = [_query(query, narrowed) for query in queries]
    settings = read_settings_from(flags)
    server = None if local else settings.server
    findings = _ask_server(server, settings.token, asked) if server else _ask_store(settings, asked)
    click.echo(_as_json(findings) if to_json else _as_text(findings, server or ""), nl=False)
    return _status([finding.found for finding in findings])


def _status(found: Sequence[str]) -> int:
    if "partly" in found or len({*found}) > 1:
        return 3
    return 0 if found[0] == "yes" else 4


def _query(text: str, narrowed: dict[str, Any]) -> Query:
    from bisect_tool.service.finding import By, Query

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


def _ask_store(settings: Settings, queries: list[Query]) -> list[Finding]:
    """Straight from the file of the cache where that has everything; else through the store, which brings it up to date."""
    path = _file_of(settings)
    found = None if path is None else _ask_file(path, queries)
    return _ask_open_store(settings, queries) if found is None else found


def _ask_file(path: Path, queries: list[Query]) -> list[Finding] | None:
    """None where the file is not there, not up to date, or cannot be read just now: the open store says why, or waits."""
    import sqlite3

    from bisect_tool.service.askers import open_file
    from bisect_tool.service.looking_up import look_up_in
    from bisect_tool.store.found_asking import is_filled

    asker = open_file(path)
    if asker is None:
        return None
    try:
        return look_up_in(asker, queries) if is_filled(asker) else None
    except sqlite3.Error:
        return None
    finally:
        asker.connection.close()


def _file_of(settings: Settings) -> Path | None:
    """The file of the results database; None where it is on a server."""
    if settings.store is None:
        return settings.cache / "results.sqlite"
    return Path(settings.store.removeprefix("sqlite:///")) if settings.store.startswith("sqlite:///") else None


def _ask_open_store(settings: Settings, queries: list[Query]) -> list[Finding]:
    from bisect_tool.runs.workshop import open_workshop
    from bisect_tool.service.looking_up import look_up

    workshop = open_workshop(settings, os.environ)
    with workshop.results(lambda line: click.echo(line, err=True)) as results:
        return look_up(results, queries)


def _ask_server(server: str, token: str | None, queries: list[Query]) -> list[Finding]:
    from bisect_tool.service.asking_server import ask_server, open_server

    return ask_server(open_server(server, token, lambda line: click.echo(line, err=True)), queries)


def _as_json(findings: list[Finding]) -> str:
    """One finding as an object, several as a list."""
    import json
    from dataclasses import asdict

    several = [asdict(finding) for finding in findings]
    return json.dumps(several if len(several) > 1 else several[0], indent=2, ensure_ascii=False) + "\n"


def _as_text(findings: list[Finding], server: str) -> str:
    from bisect_tool.service.finding_text import render

    return "\n".join(render(finding, server.rstrip("/")) for finding in findings)
