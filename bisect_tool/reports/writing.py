"""Report formats and files. A format is one module of `bisect_tool.reports.formats`: `SUFFIX` and `render(report) -> str`."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator, Sequence
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
    for stem, report in zip(_distinct([report.spec.name for report in reports]), reports, strict=True):
        write(path / f"{stem}{_format(name).SUFFIX}", render(name, report))


def write(path: Path, text: str) -> None:
    """Write `text` so that `path` is either whole or as it was; through a link, and into a pipe or device directly.

    Raises `OutputNotWritten`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise OutputNotWritten(
            f"the report could not be written: {error.strerror}",
            where=str(path),
            advice="name another file and run the same command again: the answer is stored, so it takes a second",
        ) from error


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """`names`, each used once: the second `a` becomes `a-2`."""
    taken = set(names)
    seen: set[str] = set()
    for name in names:
        number, free = 1, name
        while free in seen or (number > 1 and free in taken):
            number += 1
            free = f"{name}-{number}"
        seen.add(free)
        yield free


def _format(name: str) -> Any:
    return importlib.import_module(f"{formats.__name__}.{name}")
