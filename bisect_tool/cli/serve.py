"""``bisect serve``: questions over HTTP, with pages, and workers that answer them."""

from __future__ import annotations

import os
from typing import Any

import click

from bisect_tool.cli._options import confining_options, executor_options, read_settings_from, settings_options


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any that is free.")
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    default=1,
    show_default=True,
    help="Workers in this process; others may run with `bisect worker`.",
)
@click.option("--address", metavar="URL", help="Where people find the server, if that is another address (a proxy).")
@click.option("--proxy", "proxies", metavar="ADDR", multiple=True, help="A proxy whose word about the client counts.")
@click.option("--open", "is_open", is_flag=True, help="Everybody who reaches it may read and ask, without a token.")
@click.option("--requests", metavar="RATE", default="1200/minute", show_default=True, help="For each token or client.")
@click.option("--submissions", metavar="RATE", default="120/minute", show_default=True, help="Likewise, of questions.")
@executor_options
@settings_options
@confining_options
def command(host: str, port: int, workers: int, **flags: Any) -> None:
    """Answer questions over HTTP: an API, pages, and workers that find the answers.

    Without tokens (`bisect token create`) it listens on this machine only, unless --open is said: whoever may ask has code of
    theirs run here. docs/service.md says how it is set up for more than one.

    As soon as others may ask, its workers run repros in a sandbox, unless `--sandbox off` is said (docs/security.md).
    """
    workshop = _workshop(flags)
    from bisect_tool.service.rates import Rates, read_rate
    from bisect_tool.service.serving import Wanted, serve

    wanted = Wanted(
        host,
        port,
        workers,
        is_open=flags["is_open"],
        address=flags["address"],
        proxies=flags["proxies"],
        rates=Rates(read_rate(flags["requests"]), read_rate(flags["submissions"])),
    )
    serve(workshop, wanted, click.echo)


def _workshop(flags: dict[str, Any]) -> Any:
    from importlib.util import find_spec

    from bisect_tool.errors import SettingError
    from bisect_tool.runs.workshop import open_workshop

    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise SettingError(
            "the server needs packages that are not here",
            advice="install them with `pip install 'bisect-tool[service]'`",
        )
    return open_workshop(read_settings_from(flags), os.environ)
