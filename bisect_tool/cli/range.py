"""``bisect range``: the commits between two builds, without running anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from bisect_tool.cli._options import changes_in, read_settings_from, settings_options
from bisect_tool.cli.builds import tell


@click.command(name="range")
@click.argument("older", metavar="A")
@click.argument("newer", metavar="B")
@click.option("--package", metavar="NAME", help="The package whose builds they are (torch).")
@click.option("--source", metavar="REPOSITORY", help="Where it is developed: owner/name or an address.")
@click.option("--channel", metavar="NAME", help="Where builds come from: nightly, release, wheelhouse.")
@click.option("--variant", metavar="NAME", help="Variant of nightlies: auto, cpu, cu130, rocm7.2, xpu.")
@click.option("--python", metavar="VERSION", help="Python version or interpreter.")
@click.option("--device", metavar="DEVICE", help="cuda or cpu.")
@click.option("--spec", metavar="SPEC", help="Take the package, the repro and the names of failures from a spec.")
@click.option("--clue", "clues", multiple=True, metavar="WORDS", help="Words of the failure; may be repeated.")
@click.option("--failure", metavar="FILE", help="A file with what the failure printed: traceback and message.")
@click.option(
    "--file", "files", multiple=True, metavar="PATH", help="A file or folder/ that may be it; may be repeated."
)
@click.option("--fix", is_flag=True, help="The commit that repaired something is looked for, not one that broke it.")
@click.option("--json", "to_json", metavar="FILE", help="Write what was found as JSON; - is the standard output.")
@settings_options
def command(older: str, newer: str, *, spec: str | None, to_json: str | None, **flags: Any) -> None:
    """Show the commits that B has and A has not: versions, dates or commits. Nothing is installed or run.

    Reverts and relands are paired, and with clues the commits that are worth looking at first come first, with the reasons.
    Where both environments were made before, what differs between them is shown too.
    """
    from bisect_tool.history.clues import Sought
    from bisect_tool.reports.range_report import render
    from bisect_tool.runs.two_builds import Hints, look_at_range
    from bisect_tool.runs.workshop import open_workshop

    text = "\n".join([*flags.pop("clues"), _read(flags.pop("failure"))])
    hints = Hints(text, flags.pop("files"), Sought.FIX if flags.pop("fix") else Sought.BREAK)
    settings = read_settings_from(flags)
    workshop = open_workshop(settings, os.environ)
    found = look_at_range(workshop, _wanted(spec, flags), (older, newer), hints, tell)
    tell("")
    if to_json == "-":
        click.echo(found.model_dump_json(indent=2))
        return
    if to_json is not None:
        from bisect_tool.reports.writing import write

        write(Path(to_json), found.model_dump_json(indent=2) + "\n")
    click.echo(render(found), nl=False)


def _wanted(spec: str | None, flags: dict[str, Any]) -> Any:
    from bisect_tool.builds.channel import names
    from bisect_tool.spec.reading import load_all, spec_of_flags

    changes = changes_in(flags) | {"source": flags.pop("source")}
    if spec is None:
        return spec_of_flags(changes, channels=names())
    (read,) = load_all([Path(spec)], channels=names(), changes=changes)
    return read


def _read(path: str | None) -> str:
    """The end of a file, where the failure stands; a file that cannot be read is a mistake of the command line."""
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param_hint="--failure") from error
