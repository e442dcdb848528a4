"""``bisect doctor``: what this machine can run, and what is in the way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from bisect_tool.cli._options import changes_in, confining_options, read_settings_from, settings_options


@click.command()
@click.option("--device", metavar="DEVICE", help="What must work: cuda or cpu; left out: a GPU if there is one.")
@click.option("--channel", metavar="NAME", help="What must answer: nightly, release, wheelhouse (release).")
@click.option("--package", metavar="NAME", help="The package that is looked for there (torch).")
@click.option("--variant", metavar="NAME", help="Variant of nightlies: auto, cpu, cu130.")
@click.option("--from", "from_", metavar="BOUND", help="First build of a range of nightlies.")
@click.option("--to", "to", metavar="BOUND", help="Last build of it.")
@click.option("--python", metavar="VERSION", help="The Python version that is needed.")
@click.option("--json", "to_json", metavar="FILE", help="Write what was found as JSON; - is the standard output.")
@settings_options
@confining_options
def command(*, to_json: str | None, **flags: Any) -> int:
    """Say in plain words what this machine can run: GPUs, CUDA variants, torch releases and nightlies, and what is missing.

    Nothing is installed or downloaded. Each line is ok, a warning, or a problem with what to do about it.

    Exit status: 0 nothing that was asked for is in the way, 1 there is a problem.
    """
    from bisect_tool.builds.channel import names
    from bisect_tool.reports.checkup import render
    from bisect_tool.runs.doctor.examination import examine
    from bisect_tool.runs.doctor.place import real_place
    from bisect_tool.spec.reading import spec_of_flags

    asked = spec_of_flags(changes_in(flags), channels=names())
    checkup = examine(real_place(read_settings_from(flags), asked))
    if to_json == "-":
        click.echo(checkup.model_dump_json(indent=2))
    else:
        if to_json is not None:
            from bisect_tool.reports.writing import write

            write(Path(to_json), checkup.model_dump_json(indent=2) + "\n")
        click.echo(render(checkup), nl=False)
    sys.stdout.flush()
    return 0 if checkup.is_well else 1
