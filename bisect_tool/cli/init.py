"""``bisect init``: from a bug report to a spec."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click


@click.command()
@click.argument("source", metavar="SOURCE")
@click.option("--out", metavar="DIR", help="The folder to write; left out: one named after the report, here.")
@click.option("--force", is_flag=True, help="Replace the spec and the scripts of a folder that is there already.")
@click.option("--github-api", metavar="URL", help="Where GitHub's API answers; left out: its own address.")
def command(source: str, *, out: str | None, force: bool, github_api: str | None) -> None:
    """Draft a spec from a bug report.

    SOURCE is a text file, a script, `-` for the standard input, or an issue on GitHub (its address, or owner/name#123).
    Writes a folder with `spec.yaml` and `repro.py`, and says what it found where and what it guessed. Nothing of the report
    is run. The rules are in docs/init.md; a token in GITHUB_TOKEN lifts GitHub's limits.
    """
    from bisect_tool.builds.channel import names
    from bisect_tool.history.source import token_in
    from bisect_tool.runs.draft_folder import refuse_existing, write_draft
    from bisect_tool.runs.report_source import ReportAccess, open_report
    from bisect_tool.settings import read_settings
    from bisect_tool.spec.drafting.draft import make_draft
    from bisect_tool.spec.drafting.files import files_of
    from bisect_tool.spec.drafting.telling import summary

    settings = read_settings({"github_api": github_api}, os.environ, Path.home())
    access = ReportAccess(token_in(os.environ), settings.github_api, sys.stdin.buffer.read)
    report = open_report(source, access)
    folder = Path(out) if out is not None else Path(report.name)
    refuse_existing(folder, force=force)
    draft = make_draft(report)
    files = files_of(draft)
    write_draft(files, folder, force=force, channels=names())
    for line in summary(draft, str(folder), files):
        click.echo(line)
