"""Writing the files of specs: in this process, and where there are many of them in another one, so that the search goes on.

Whoever gives something to be written is told when it lies there, and only from then on tells of it. What goes wrong in the
other process is done again in this one, where the fault is raised as it is; so is what a process that died has left undone.
A batch that is killed takes the other process with it: that ends when nobody is there to give it anything.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from bisect_tool.reports.report import Report
from bisect_tool.runs.batch.spec_files import write_files

ALONE = 20  # specs that this process writes itself: for so few none is started
PENDING = 16  # specs that are under way at most; each is some 100 kB

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from bisect_tool.runs.batch.scribe import work; work(int(sys.argv[2]))"
)
Ended = Callable[[Exception | None], None]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The report of a spec, whose files go to `place`; logs are those of `cache`."""

    place: Path
    report: Report
    cache: Path

    def write(self) -> None:
        """Write it here. Raises `OutputNotWritten`, and whatever a defect of a format raises."""
        write_files(self.place, self.report, self.cache)


@dataclass(slots=True)
class Scribe:
    """Writes reports in the order in which they are given; `alone` is how many of them are written by this process."""

    alone: int = ALONE
    _given: int = 0
    _waiting: deque[tuple[Sheet, Ended]] = field(default_factory=deque)
    _process: subprocess.Popen[bytes] | None = None
    _line: Connection | None = None

    def write(self, sheet: Sheet, ended: Ended) -> None:
        """Have a report written; `ended` is called in this thread, from here, `look` or `finish`, with what went wrong.

        Where this process writes it at once, what goes wrong is raised.
        """
        self._given += 1
        if self._given > self.alone and self._line is None and not self._waiting:
            self._start()
        if self._line is None and not self._waiting:
            sheet.write()
            ended(None)
            return
        # An older report of the same spec, which may have to be written here, must not take the place of this one.
        while len(self._waiting) >= PENDING or any(one.place == sheet.place for one, _ in self._waiting):
            self._take(None)
        text = sheet.report.model_dump_json()
        try:
            self._waiting.append((sheet, ended))
            if self._line is not None:
                self._send(self._line, (sheet.place, text, sheet.cache))
        except BaseException:  # it may not have been sent, and nobody would ever answer for it
            self._leave()
            raise
        self.look()

    def look(self) -> None:
        """Tell of those that are written by now."""
        while self._waiting and self._take(0.0):
            pass

    def finish(self) -> None:
        """Wait for all of them, and let the other process go."""
        while self._waiting:
            self._take(None)
        self._leave()

    def _start(self) -> None:
        # Not by multiprocessing: a fork copies the locks of other threads, and what it spawns runs the main program again.
        with suppress(OSError), ExitStack() as opened:  # no room for another process, or a pipe: this one writes it
            line, other = map(opened.enter_context, Pipe())
            words = [sys.executable, "-B", "-c", _PROGRAM, json.dumps(sys.path), str(other.fileno())]
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[other.fileno()])
            other.close()
            opened.pop_all()
            self._line = line

    def _send(self, line: Connection, work: tuple[Path, str, Path]) -> None:
        try:
            line.send(work)
        except OSError:  # it is gone
            self._leave()
        except BaseException:  # half a message may be on its way, after which nothing else would be understood
            self._leave()
            raise

    def _take(self, seconds: float | None) -> bool:
        """Hear of the oldest one that is not written yet, waiting for it so long; whether there was news."""
        is_written = False
        if self._line is not None:
            try:
                if not self._line.poll(seconds):
                    return False
                is_written = self._line.recv()
            except (EOFError, OSError):
                self._leave()
            except BaseException:
                self._leave()
                raise
        sheet, ended = self._waiting.popleft()
        if is_written:
            ended(None)
        else:
            _write_here(sheet, ended)
        return True

    def _leave(self) -> None:
        if self._line is not None and self._process is not None:
            self._line.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._line = self._process = None


def _write_here(sheet: Sheet, ended: Ended) -> None:
    try:
        sheet.write()
    except Exception as error:  # noqa: BLE001  whoever gave it knows what it means
        ended(error)
    else:
        ended(None)


def work(handle: int) -> None:
    """The other process: write what comes until nobody is there any more; tell of each whether it went well."""
    line = Connection(handle)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the batch, which waits for what is under way
    with suppress(EOFError, OSError):
        while True:
            place, text, cache = line.recv()
            line.send(_is_written(place, text, cache))


def _is_written(place: Path, text: str, cache: Path) -> bool:
    try:
        write_files(place, Report.model_validate_json(text), cache)
    except Exception:  # noqa: BLE001  it comes again in the process that knows what to do
        return False
    return True
