"""``bisect shell``: a shell in the environment of a build."""

from __future__ import annotations

import os
from typing import Any

import click

from bisect_tool.cli._options import (
    adjusted_specs,
    changes_in,
    check_cases,
    question_options,
    read_settings_from,
    settings_options,
)

_WORDS = "bisect.words"


class _WithCommand(click.Command):
    """What stands behind `--` is a command, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with the words behind the first `--` set aside."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_WORDS] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])


@click.command(cls=_WithCommand)
@click.argument("build", metavar="BUILD")
@click.argument("spec", required=False, metavar="[SPEC] [-- COMMAND…]")
@click.option("--case", "case", metavar="NAME", help="Also the variables of this case of SPEC.")
@question_options
@settings_options
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view while it is made.")
@click.option("--quiet", is_flag=True, help="Nothing about how it is made.")
def command(build: str, spec: str | None, *, case: str | None, **flags: Any) -> int:
    """Open a shell in the environment of BUILD, or run COMMAND there.

    BUILD is a version, a date or the file of a wheel. With a SPEC the environment is the one of its trials: its
    requirements, its Python, its variables. The shell is $SHELL; caches, HOME and PATH are those of a trial. The environment
    is a private copy, and it is gone afterwards. Its large libraries are links into the cache: replace them (`rm` first),
    never write into them (docs/try.md).

    Exit status: that of the shell or command; 128 + N when signal N ended it, 127 when there is no such command. 5: the build
    cannot be used; 10 and above before anything was started are errors (docs/exit-statuses.md).
    """
    from bisect_tool.builds.channel import names
    from bisect_tool.cli.run import view_for
    from bisect_tool.environments.environment import BuildUnusable
    from bisect_tool.errors import Answered
    from bisect_tool.runs.surveying import Wishes
    from bisect_tool.runs.trying.shell import ShellOrder, open_shell
    from bisect_tool.runs.workshop import open_workshop
    from bisect_tool.spec.reading import spec_of_flags

    words: tuple[str, ...] = click.get_current_context().meta[_WORDS]
    settings = read_settings_from(flags)
    wishes = Wishes(pre=flags["pre"], yanked=flags["yanked"], refresh=False)
    workshop = open_workshop(settings, os.environ)
    if spec is None:
        if case is not None:
            raise click.UsageError("--case names a case of a SPEC; give the spec too.")
        order = ShellOrder(build, spec_of_flags(changes_in(flags), channels=names()), words)
    else:
        (read,) = adjusted_specs((spec,), flags)
        check_cases(read, () if case is None else (case,))
        own = next((one.env for one in read.spec.cases if one.name == case), {})
        order = ShellOrder(build, read, words, {**read.spec.env, **own})
    try:
        return open_shell(workshop, order, wishes, lambda: view_for(plain=flags["plain"], quiet=flags["quiet"]))
    except BuildUnusable as unusable:
        click.echo(f"bisect: {build} cannot be used: {unusable}", err=True)
        return Answered.NOT_JUDGED
