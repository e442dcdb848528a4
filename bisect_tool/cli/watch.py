"""``bisect watch``: follow a question on a server until it is answered."""

from __future__ import annotations

import re
from typing import Any

import click

from bisect_tool.cli._options import read_settings_from

QUESTION = re.compile(r"q[0-9a-f]{20}\Z")
_PAGE = re.compile(r"(?P<server>https?://.+?)/(?:q|api/v1/questions)/(?P<question>q[0-9a-f]{20})(?:[/?#].*)?\Z")


@click.command()
@click.argument("question", metavar="ID|URL")
@click.option("--server", metavar="URL", help="The server that was asked; or BISECT_SERVER.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="Nothing but the report.")
def command(question: str, *, plain: bool, quiet: bool, **flags: Any) -> int:
    """Show how the question ID is being answered, then the report, as `bisect run` does.

    URL is the address of its page. A token is read from BISECT_TOKEN or the settings file. Leaving does not end the work.
    Exit status: that of `bisect run`.
    """
    from bisect_tool.service.watching import end_of, follow

    number, server = _question_and_server(question, flags["server"])
    own = None if flags["server"] else read_settings_from({}).server
    if own and server and own != server.rstrip("/"):
        raise click.UsageError(
            f"That page is not on your server {own}; with --server {server} it is asked, and shown your token if there is one."
        )
    flags["server"] = server
    client = open_client(flags)
    follow(client, number, plain=plain, quiet=quiet)
    return end_of(client, number)


def _question_and_server(text: str, server: str | None) -> tuple[str, str | None]:
    if match := _PAGE.match(text):
        return match["question"], server or match["server"]
    if QUESTION.match(text):
        return text, server
    raise click.UsageError(f"{text!r} is neither the id of a question (q and 20 digits) nor the address of its page.")


def open_client(flags: dict[str, Any]) -> Any:
    """The client of the server that the settings name. Raises `UsageError` without one."""
    from bisect_tool.service.client import Client

    settings = read_settings_from(flags)
    if settings.server is None:
        raise click.UsageError("No server: name it with --server or BISECT_SERVER, for instance http://127.0.0.1:8765.")
    return Client(settings.server, settings.token, tell=lambda line: click.echo(line, err=True))
