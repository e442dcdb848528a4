"""What is said while a batch runs: a few lines now and then, or a picture on a terminal; never a line for each of hundreds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bisect_tool.quantities import format_duration
from bisect_tool.reports import events
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.live import outliving, plain_line
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.watching import Doing, Watched, download_totals

if TYPE_CHECKING:
    from rich.console import Console, Group

EVERY = 10.0  # seconds between two plain lines about the whole
AT_ONCE = 5  # specs that are told one by one, when so many end between two looks
BAR = 30
MOST_SLOTS = 16
WRONG = events.MachineTrouble | events.SlotLost | events.Notice


@dataclass(slots=True)
class Tally:
    """How far a batch is: `ended` of `specs`; `trials` and `installs` so far. Times are seconds of `clock`."""

    clock: Callable[[], float] = time.monotonic
    specs: int = 0
    lines: dict[str, SpecLine] = field(default_factory=dict)
    trials: int = 0
    installs: int = 0
    watched: Watched = field(init=False)

    def __post_init__(self) -> None:
        self.watched = Watched(self.clock)

    def take(self, event: events.Event) -> None:
        """Take the next event of the run; questions are not kept, there are too many to show."""
        match event:
            case events.RunStarted() | events.StateKnown() | events.Untestable():
                return
            case events.TrialFinished():
                self.trials += 1
            case events.Installed(cached=False) | events.MadeAhead(is_ready=True):
                self.installs += 1
            case _:
                pass
        self.watched.take(event)

    def sentence(self) -> str:
        """How far it is, in one line."""
        open_ones = sum(bool(line.open_changes) for line in self.lines.values())
        wrong = sum(line.error is not None for line in self.lines.values())
        more = [f"{open_ones} still failing" if open_ones else "", f"{wrong} without an answer" if wrong else ""]
        told = "".join(f", {one}" for one in more if one)
        left = self.watched.seconds_left if len(self.lines) < self.specs else None
        eta = f", about {format_duration(left)} left" if left else ""
        done = f"{len(self.lines)} of {plural(self.specs, 'spec')} done{told}"
        return f"{done}; {plural(self.trials, 'trial')}, {plural(self.installs, 'build')} installed{eta}"


class BatchView:
    """Hears the events of a run, and of each spec that comes to an end. This one shows nothing."""

    def __init__(self, tally: Tally | None = None) -> None:
        self.tally = tally or Tally()

    def began(self, specs: int) -> None:
        """So many specs are to be answered."""
        self.tally.specs = specs

    def __call__(self, event: events.Event) -> None:
        """Something has happened in the run."""
        self.tally.take(event)

    def ended(self, line: SpecLine) -> None:
        """A spec has come to an end, or has another line than before."""
        self.tally.lines[line.name] = line

    def finished(self) -> None:
        """The batch has come to its end."""


class PlainView(BatchView):
    """Lines with the time since the start."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(Tally(clock))
        self._write = write
        self._started = clock()
        self._due = self._started + EVERY
        self._news: list[SpecLine] = []

    def __call__(self, event: events.Event) -> None:
        """Tell of what went wrong, and now and then how far all is."""
        super().__call__(event)
        if isinstance(event, WRONG):
            self._say(plain_line(event) or "")
        self._look()

    def ended(self, line: SpecLine) -> None:
        """Tell of it, together with others when there are many."""
        before = self.tally.lines.get(line.name)
        if before is None or _news_of(before) != _news_of(line):
            self._news.append(line)
        super().ended(line)
        self._look()

    def finished(self) -> None:
        """The last line."""
        self._tell()

    def _look(self) -> None:
        if self.tally.clock() >= self._due:
            self._tell()

    def _tell(self) -> None:
        news = list({line.name: line for line in self._news}.values())
        for line in news if len(news) <= AT_ONCE else ():
            self._say(told(line))
        self._news.clear()
        self._say(self.tally.sentence())
        self._due = self.tally.clock() + EVERY

    def _say(self, text: str) -> None:
        self._write(f"[{format_duration(self.tally.clock() - self._started):>10}] {one_line(clean(text), 300)}")


def _news_of(line: SpecLine) -> object:
    """What is worth another line: not that the commits of the same answer were read."""
    ends = [
        (one.failure, one.case, one.last_without, one.first_with, one.last_with, one.first_without)
        for one in line.changes
    ]
    return line.status, line.outcome, line.error, ends, line.since


def told(line: SpecLine) -> str:
    """A spec in one line."""
    if line.error is not None:
        return f"{line.name}: no answer: {line.error.what}"
    return f"{line.name}: {line.outcome}: {' '.join(line.summary)}"


@contextmanager
def choose_view(console: Console, *, plain: bool, quiet: bool) -> Iterator[BatchView]:
    """As for a run: the picture on a terminal unless `plain` lines were asked for; nothing when `quiet`."""
    if quiet:
        yield BatchView()
        return
    with outliving(console):
        if plain or not console.is_terminal:
            yield PlainView(lambda text: console.out(text, highlight=False))
        else:
            with _live(console) as view:
                yield view


@contextmanager
def _live(console: Console) -> Iterator[BatchView]:
    from rich.live import Live

    tally = Tally()
    with Live(Picture(tally), console=console, refresh_per_second=4, transient=True) as live:
        yield _LiveView(tally, lambda text: live.console.print(text, style="yellow", highlight=False))


class _LiveView(BatchView):
    def __init__(self, tally: Tally, say: Callable[[str], None]) -> None:
        super().__init__(tally)
        self._say = say

    def __call__(self, event: events.Event) -> None:
        super().__call__(event)
        if isinstance(event, WRONG):
            self._say(one_line(clean(plain_line(event) or ""), 300))


class Picture:
    """Draws how far a batch is, each time that the terminal is refreshed."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        tally = self._tally
        filled = round(BAR * len(tally.lines) / tally.specs) if tally.specs else 0
        bar = Text("━" * filled, style="green") + Text("╌" * (BAR - filled), style="dim")
        head = Text("  ") + bar + Text(f"  {tally.sentence()}")
        gone = format_duration(tally.clock() - tally.watched.started)
        rows = [Text(row, overflow="ellipsis", no_wrap=True) for row in (*self._doing(), *self._last())]
        return Group(head, *rows, Text(f"  {gone} so far", style="dim"))

    def _doing(self) -> list[str]:
        watched = self._tally.watched
        alone = {"": Doing(watched.doing, watched.since, watched.timeout)}
        slots = list((watched.slots or alone).items())
        rows = [f"  {f'slot {name}  ' if name else ''}{self._told(doing)}" for name, doing in slots[:MOST_SLOTS]]
        done, total = download_totals(watched)
        more = [f"  and {len(slots) - MOST_SLOTS} more"] if len(slots) > MOST_SLOTS else []
        return rows + more + ([f"  downloads: {100 * done // total} %"] if total else [])

    def _told(self, doing: Doing) -> str:
        return one_line(clean(f"{doing.what}, {format_duration(self._tally.clock() - doing.since)}"), 200)

    def _last(self) -> list[str]:
        return [f"  {one_line(told(line), 200)}" for line in list(self._tally.lines.values())[-AT_ONCE:]]
