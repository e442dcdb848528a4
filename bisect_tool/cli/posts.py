"""``bisect posts``: what a server has told others, would have told them, or could not."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bisect_tool.service.posts import Post, Posts

STATES = ("waiting", "sent", "dry", "left", "failed")


@click.command()
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("--state", type=click.Choice(STATES), help="Only those; `dry`: what a dry run would have said.")
@click.option("--question", metavar="ID", help="Only those about this question.")
@click.option("--most", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many at most.")
@settings_options
def command(number: int | None, state: str | None, question: str | None, most: int, **flags: Any) -> None:
    """Show what the server told others: comments on GitHub, calls of webhooks. The newest come first.

    With NUMBER the text of that one. `docs/github.md` explains what is said, and the dry run.
    """
    from bisect_tool.errors import SettingError
    from bisect_tool.reports.cleaning import clean
    from bisect_tool.service.posts import PostState

    with _posts(flags) as posts:
        if number is None:
            found = posts.all(question=question, state=PostState(state) if state else None, most=most)
            for post in found:
                click.echo(_line(post))
            return
        one = posts.get(number)
    if one is None:
        raise SettingError(f"there is no post {number}", advice="`bisect posts` shows all of them")
    click.echo(_line(one), err=True)
    click.echo(clean(one.body))


def _line(post: Post) -> str:
    when = datetime.fromtimestamp(post.sent or post.made, tz=UTC).strftime("%Y-%m-%d %H:%M")
    why = f": {post.error}" if post.error else ""
    return f"{post.id:>5}  {when}  {post.state:<7}  {post.kind:<8}  {post.address}  {post.question}{why}".rstrip()


@contextmanager
def _posts(flags: dict[str, Any]) -> Iterator[Posts]:
    """The posts of the database that the settings name, while the context lasts."""
    from bisect_tool.environments.cache_folder import open_cache
    from bisect_tool.environments.locks import exclusive
    from bisect_tool.service.posts import Posts
    from bisect_tool.store.address import read_address
    from bisect_tool.store.results import open_results

    settings = read_settings_from(flags)
    cache = open_cache(settings.cache)
    place = read_address(settings.store, cache.database) if settings.store else cache.database
    with open_results(place, lambda: exclusive(cache.locks / "database.lock")) as results:
        yield Posts(results.database)
