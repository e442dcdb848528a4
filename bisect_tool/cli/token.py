"""``bisect token``: who may ask a server, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bisect_tool.service.tokens import Token, Tokens

SCOPES = ("read", "submit", "work", "admin")


@click.group()
def command() -> None:
    """Tokens of a server of `bisect serve`, kept in its results database.

    Once there is a token, nobody may do anything without one, unless the server was started with `--open`.
    """


@command.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="What it allows: read, submit, work (cancel and retry), admin (everything). May be repeated; read and submit.",
)
@click.option(
    "--days", type=click.FloatRange(0, 36_500, min_open=True), help="How long it is valid; left out: for ever."
)
@click.option(
    "--minutes-a-day",
    type=click.FloatRange(min=0, min_open=True),
    help="How long workers work for it in a day; left out: without a bound.",
)
@settings_options
def create(name: str, scopes: tuple[str, ...], days: float | None, minutes_a_day: float | None, **flags: Any) -> None:
    """Make a token called NAME and print it: it is shown only now."""
    from bisect_tool.service.tokens import Scope

    with _tokens(flags) as tokens:
        wanted = [Scope(scope) for scope in scopes or ("read", "submit")]
        made = tokens.make(name, wanted, days=days, seconds_a_day=None if minutes_a_day is None else minutes_a_day * 60)
    click.echo(made.text)


@command.command("list")
@settings_options
def show(**flags: Any) -> None:
    """Print every token without its text: name, what it allows, until when, how long workers work for it."""
    with _tokens(flags) as tokens:
        found = tokens.all()
    for token in found:
        click.echo(_line(token))


@command.command()
@click.argument("name")
@settings_options
def revoke(name: str, **flags: Any) -> None:
    """End the token NAME now."""
    with _tokens(flags) as tokens:
        tokens.revoke(name)
    click.echo(f"{name} is not valid any more")


def _tokens(flags: dict[str, Any]) -> Any:
    """The tokens of the database that the settings name, while the context lasts."""
    from contextlib import contextmanager

    from bisect_tool.environments.cache_folder import open_cache
    from bisect_tool.environments.locks import exclusive
    from bisect_tool.service.tokens import Tokens
    from bisect_tool.store.address import read_address
    from bisect_tool.store.results import open_results

    @contextmanager
    def opened() -> Iterator[Tokens]:
        settings = read_settings_from(flags)
        cache = open_cache(settings.cache)
        place = read_address(settings.store, cache.database) if settings.store else cache.database
        with open_results(place, lambda: exclusive(cache.locks / "database.lock")) as results:
            yield Tokens(results.database)

    return opened()


def _line(token: Token) -> str:
    from datetime import UTC, datetime

    until = (
        "for ever"
        if token.expires is None
        else f"until {datetime.fromtimestamp(token.expires, UTC):%Y-%m-%d %H:%M} UTC"
    )
    state = until if token.is_valid else "not valid any more"
    budget = "" if token.seconds_a_day is None else f", {token.seconds_a_day / 60:g} minutes a day"
    return f"{token.name:<24} {' '.join(sorted(token.scopes)):<22} {state}{budget}"
