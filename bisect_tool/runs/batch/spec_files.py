"""The files of one spec in the folder of a batch: its report in every format, and links to its logs."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from bisect_tool.errors import OutputNotWritten
from bisect_tool.reports.report import Report
from bisect_tool.reports.writing import render, write

FORMATS = {"json": "report.json", "markdown": "report.md", "html": "report.html"}


def write_files(place: Path, report: Report, cache: Path) -> None:
    """Write the files of a spec into the folder `place`; logs lie in `cache`. Raises `OutputNotWritten`."""
    for form, file in FORMATS.items():
        write(place / file, render(form, report))
    _keep_logs(report, cache, place / "logs")


def _keep_logs(report: Report, cache: Path, folder: Path) -> None:
    """Links to the logs where the file system has hard links, else copies; a log that is gone is left out.

    Raises `OutputNotWritten`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for case in report.cases:
            for entry in case.timeline:
                if entry.log:
                    _keep_log(entry.log, cache, folder / f"{quote(f'{case.name}@{entry.build}', safe='@+ ')}.txt")
    except OSError as error:
        raise not_written(error, folder) from error


def _keep_log(log: str, cache: Path, to: Path) -> None:
    """A log at an address (`--logs`) is linked to where this host made it, else its address is kept."""
    is_elsewhere = "://" in log or "::" in log
    here = cache / "trials" / PurePosixPath(log).parent.name / "log.txt" if is_elsewhere else cache / log
    if is_elsewhere and not here.is_file():
        write(to, f"{log}\n")
    else:
        _link(here, to)


def _link(log: Path, to: Path) -> None:
    if not log.is_file() or (to.exists() and to.samefile(log)):
        return
    to.unlink(missing_ok=True)
    try:
        to.hardlink_to(log)
    except OSError:  # another file system, or one without links
        shutil.copyfile(log, to)


def not_written(error: OSError, path: Path) -> OutputNotWritten:
    """A folder of results cannot be written."""
    return OutputNotWritten(
        f"the results could not be written: {error.strerror}",
        where=str(path),
        advice="make room or name another folder with --out, then run the same command again: the answers are stored",
    )
