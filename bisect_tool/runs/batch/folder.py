"""The results folder of a batch: files of each spec, and what tells of all of them, kept true while the batch goes on.

    results/
      index.html  summary.jsonl  junit.xml
      specs/NAME/report.json  report.md  report.html  logs/CASE@BUILD.txt

Every file is replaced as a whole, so that a batch which is killed leaves no half of one. The files of a spec are there before
the summary names it. The three that tell of all are written again when something is new, but take no more than a small share
of the time: with a thousand specs not after each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from bisect_tool.errors import SettingError
from bisect_tool.reports.batch import junit, page
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.reports.writing import write
from bisect_tool.runs.batch.spec_files import not_written

SUMMARY, PAGE, JUNIT, SPECS = "summary.jsonl", "index.html", "junit.xml", "specs"
SHARE = 20  # what tells of all is written again after this many times as long as writing it took


def now() -> str:
    """The time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(slots=True)
class ResultsFolder:
    """`lines` of the specs by their names, in the order in which the page is to have them. `clock` gives seconds."""

    path: Path
    title: str
    notes: tuple[str, ...] = ()
    clock: Callable[[], float] = time.monotonic
    lines: dict[str, SpecLine] = field(default_factory=dict)
    _is_new: bool = False
    _due: float = 0.0

    def folder_of(self, name: str) -> str:
        """Where the files of a spec lie, relative to this folder."""
        return f"{SPECS}/{name}"

    def add(self, line: SpecLine) -> None:
        """Tell of a spec from now on; a line that was told of it before is replaced. Raises `OutputNotWritten`."""
        self.lines[line.name] = line
        self._is_new = True
        if self.clock() >= self._due:
            self.tell()

    def tell(self) -> None:
        """Write what tells of all, if there is news. Raises `OutputNotWritten`."""
        if self._is_new:
            self.rewrite()

    def rewrite(self) -> None:
        """Write what tells of all. Raises `OutputNotWritten`."""
        started = self.clock()
        lines = list(self.lines.values())
        write(self.path / SUMMARY, "".join(f"{line.model_dump_json()}\n" for line in lines))
        write(self.path / JUNIT, junit.render(lines))
        write(self.path / PAGE, page.render(lines, title=self.title, notes=self.notes, made=now()))
        self._is_new = False
        self._due = self.clock() + SHARE * (self.clock() - started)


def open_folder(path: Path) -> None:
    """Make sure that the folder is there and can be written. Raises `OutputNotWritten`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{os.getpid()}.part"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise not_written(error, path) from error


def read_lines(folder: Path) -> list[SpecLine]:
    """The lines of a results folder; empty where there is no summary.

    Raises `SettingError` for one that is damaged or of a newer version.
    """
    file = folder / SUMMARY
    try:
        texts = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise SettingError(
            f"the summary cannot be read: {error}", where=str(file), advice="name another folder"
        ) from error
    return [_line(text, number, file) for number, text in enumerate(texts, 1) if text.strip()]


def _line(text: str, number: int, file: Path) -> SpecLine:
    try:
        return SpecLine.model_validate_json(text)
    except ValidationError as error:
        raise SettingError(
            f"line {number} of the summary is none that this version of bisect reads",
            where=str(file),
            advice="run the batch again into another folder, or use the version of bisect that wrote it",
        ) from error


def earlier_lines(folder: Path, names: Iterable[str]) -> dict[str, SpecLine]:
    """What an earlier batch into this folder said of these specs, so that a rerun which is killed loses none of it."""
    wanted = set(names)
    with suppress(SettingError):
        return {line.name: line for line in read_lines(folder) if line.name in wanted}
    return {}
