"""``bisect submit``: ask a server."""

from __future__ import annotations

from typing import Any

import click

from bisect_tool.cli._options import adjusted_specs, question_options
from bisect_tool.cli.watch import open_client


@click.command(context_settings={"show_default": False})
@click.argument("specs", nargs=-1, required=True, metavar="SPEC…")
@question_options
@click.option("--server", metavar="URL", help="The server to ask; or BISECT_SERVER.")
@click.option("--source", metavar="TEXT", help="Where the question comes from, for people.")
@click.option("--wait", is_flag=True, help="Watch until it is answered, then print the report as `bisect run` does.")
@click.option("--plain", is_flag=True, help="With --wait: plain lines instead of the live view.")
@click.option("--quiet", is_flag=True, help="With --wait: nothing but the report.")
def command(specs: tuple[str, ...], *, wait: bool, plain: bool, quiet: bool, source: str | None, **flags: Any) -> int:
    """Hand in SPECs (a spec.yaml, its folder, or a plain script) with their files.

    What was asked before, by anybody, is not asked again: the answer that is there, or the work under way, is named. A token is
    read from BISECT_TOKEN or the settings file. Exit status: 0 when everything was handed in, with --wait that of `bisect run`.
    """
    from bisect_tool.service.handing_over import parcel_of

    flags.pop("pre"), flags.pop("yanked")
    changes = {name: value for name, value in flags.items() if name != "server"}
    is_changed = any(value not in (None, ()) for value in changes.values())
    read = adjusted_specs(specs, changes)
    client = open_client({"server": flags["server"]})
    asked = []
    for one in read:
        parcel = parcel_of(one, is_changed=is_changed)
        told = client.submit(parcel.spec, parcel.files, source)
        question = told["question"]
        word = "new" if told["is_new"] else "known"
        click.echo(f"{question['id']}  {word:<5}  {question['state']:<9}  {question['address']}", err=wait)
        asked.append(question["id"])
    if not wait:
        return 0
    from bisect_tool.service.watching import end_of, follow

    for number in asked:
        follow(client, number, plain=plain, quiet=quiet)
    return max(end_of(client, number) for number in asked)
