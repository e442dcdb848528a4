"""Report formats and files. A format is one module of `bisect_tool.reports.formats`: `SUFFIX` and `render(report) -> str`."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bisect_tool.errors import OutputNotWritten
from bisect_tool.reports import formats
from bisect_tool.reports.report import Report


def format_names() -> tuple[str, ...]:
    """The formats that exist."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(formats.__path__)))


def render(name: str, report: Report) -> str:
    """The report in the format `name`."""
    return str(_format(name).render(report))


def deliver(reports: Sequence[Report], name: str, path: Path) -> None:
    """Write one report to `path`, or several into the folder `path`, one file for each spec.

    Raises `OutputNotWritten`.
    """
    if len(reports) == 1:
        write(path, render(name, reports[0]))
        return
    for report in reports:
        write(path / f"{report.spec.name}{_format(name).SUFFIX}", render(name, report))


def write(path: Path, text: str) -> None:
    """Write `text` so that `path` is either whole or as it was.

    Raises `OutputNotWritten`.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise OutputNotWritten(
            f"the report could not be written: {error.strerror}",
            where=str(path),
            advice="name another file and run the same command again: the answer is stored, so it takes a second",
        ) from error


def _format(name: str) -> Any:
    return importlib.import_module(f"{formats.__name__}.{name}")
