"""Watching a run: a live picture on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports import events
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.watching import SYMBOLS, Doing, Question, Watched, download_totals, open_ranges, strip

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

View = Callable[[events.Event], None]
COLOURS = {"✓": "green", "✗": "bold red", "~": "yellow", "?": "dim", "·": "dim"}
MOST_QUESTIONS = 4
MOST_SLOTS = 16
# What went wrong stays on the screen, above the picture, and so do news of the cluster.
_STAYS = events.MachineTrouble | events.Untestable | events.Notice | events.SlotLost | events.SlotsJoined


@contextmanager
def choose_view(console: Console, *, plain: bool, quiet: bool) -> Iterator[View]:
    """The view for `console`: the live one on a terminal unless `plain` lines were asked for; none when `quiet`."""
    if quiet:
        yield lambda _event: None
        return
    with outliving(console):
        if plain or not console.is_terminal:
            yield PlainView(console)
        else:
            with _live(console) as view:
                yield view


@contextmanager
def outliving(console: Console) -> Iterator[None]:
    """Whoever watches may leave: a closed pipe or terminal must not end the run."""
    stream = console.file
    console.file = cast("IO[str]", _Departing(stream))
    try:
        yield
    finally:
        console.file = stream


class _Departing:
    """A text stream that swallows what is written once nobody is there to read it.

    It stands below rich, which would answer a broken pipe by ending the process.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> int:
        if not self._gone:
            try:
                self._stream.write(text)
            except (OSError, ValueError):  # broken pipe, vanished terminal, closed file
                self._gone = True
        return len(text)

    def flush(self) -> None:
        if not self._gone:
            try:
                self._stream.flush()
            except (OSError, ValueError):
                self._gone = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class PlainView:
    """One line for each event that matters, with the time since the start."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._started = clock()

    def __call__(self, event: events.Event) -> None:
        """Print the line of `event`, if it has one."""
        line = plain_line(event)
        if line is None:
            return
        text = f"[{format_duration(self._clock() - self._started):>10}] {one_line(clean(line), 300)}"
        self._console.out(text, highlight=False)


def plain_line(event: events.Event) -> str | None:
    """The event in words, after the slot where there are several; None for what is only of interest while it lasts."""
    line, slot = _words(event), getattr(event, "slot", None)
    return f"[slot {slot}] {line}" if line and slot and not isinstance(event, events.SlotLost) else line


def _words(event: events.Event) -> str | None:
    match event:
        case events.RunStarted():
            return _question_in_words(event)
        case events.BuildChosen():
            left = f", {format_duration(event.seconds_left)} left" if event.seconds_left else ""
            return f"{event.build}: next ({event.why}); {_to_go(event.steps_left)}{left}"
        case events.Installing():
            size = f" ({format_size(event.size)})" if event.size else ""
            return f"{event.build}: installing{size}"
        case events.Downloading():
            size = f" {format_size(event.total)}" if event.total else ""
            return None if event.done else f"{event.build}: downloading {event.name}{size}"
        case events.Installed():
            return None if event.cached else f"{event.build}: installed and proven in {format_duration(event.seconds)}"
        case events.Untestable():
            return f"{event.build}: untestable: {event.reason}"
        case events.TrialFinished():
            failure = f" ({event.failure})" if event.failure else ""
            return f"{event.build}: {event.case}: {event.state}{failure} in {format_duration(event.seconds)}"
        case events.Waiting():
            return f"{event.build}: waiting: {event.why}"
        case events.Notice():
            return event.text
        case events.MachineTrouble():
            return f"attempt {event.attempt} of {event.of} failed and is made again: {event.text}"
        case (
            events.TrialStarted()
            | events.StateKnown()
            | events.RatesStudied()
            | events.Checking()
            | events.MakingAhead()
        ):
            return None
        case _:
            return _words_of_run(event)


def _question_in_words(event: events.RunStarted) -> str:
    if len(event.builds) == 1:
        return f"{event.spec}: {event.package} {event.builds[0]}, device {event.device}"
    ends = f"{event.builds[0]} … {event.builds[-1]}"
    return (
        f"{event.spec}: {len(event.builds)} builds of {event.package} ({ends}), device {event.device}, "
        f"about {event.steps_left} to test"
    )


def _words_of_run(event: events.OfRun) -> str | None:
    match event:
        case events.SlotsOpened():
            return f"{len(event.slots)} slots: {', '.join(event.slots)}"
        case events.SlotsJoined():
            return f"new slots: {', '.join(event.slots)}"
        case events.CalledOff():
            return f"{event.build}: called off: a newer result has answered it"
        case events.SlotLost():
            what = "has no room and is tried again later" if event.rests else "is lost"
            return f"slot {event.slot} {what}, its work goes to the others: {event.reason}"
        case events.MadeAhead():
            return f"{event.build}: made ahead of need in {format_duration(event.seconds)}" if event.is_ready else None
        case events.RunFinished():
            return f"finished: {event.outcome}"


@contextmanager
def _live(console: Console) -> Iterator[View]:
    from rich.live import Live

    watched = Watched(time.monotonic)
    picture = _Picture(watched, console)
    with Live(picture, console=console, refresh_per_second=8, transient=True) as live:

        def view(event: events.Event) -> None:
            watched.take(event)
            if isinstance(event, _STAYS):
                live.console.print(one_line(clean(plain_line(event) or ""), 300), style="yellow", highlight=False)

        yield view


class _Picture:
    """Draws the state of the run each time that the terminal is refreshed."""

    def __init__(self, watched: Watched, console: Console) -> None:
        from rich.spinner import Spinner

        self._watched = watched
        self._console = console
        self._spinner = Spinner("dots")

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        watched = self._watched
        alone = Doing(watched.doing, watched.since, watched.timeout)
        text = f"{len(watched.slots)} slots" if watched.slots else self._told(alone)
        self._spinner.update(text=Text(text, overflow="ellipsis"))
        parts = [part for question in watched.questions[-MOST_QUESTIONS:] for part in self._question(question)]
        return Group(*parts, self._spinner, *self._slots(), *self._downloads(), *self._ahead(), self._left())

    def _told(self, doing: Doing) -> str:
        elapsed = self._watched.clock() - doing.since
        limit = f" of at most {format_duration(doing.timeout)}" if doing.timeout else ""
        return f"{doing.what}, {format_duration(elapsed)}{limit}"

    def _slots(self) -> list[Text]:
        """One line for each slot, where there are several."""
        from rich.text import Text

        names = max(map(len, self._watched.slots), default=0)
        slots = list(self._watched.slots.items())[:MOST_SLOTS]
        lines = [f"  slot {name:<{names}}  {one_line(clean(self._told(doing)), 200)}" for name, doing in slots]
        if len(self._watched.slots) > MOST_SLOTS:
            lines.append(f"  and {len(self._watched.slots) - MOST_SLOTS} more")
        return [Text(line, overflow="ellipsis", no_wrap=True) for line in lines]

    def _ahead(self) -> list[Text]:
        """What is made in the background."""
        from rich.text import Text

        told = ", ".join(f"{doing} {build}" for build, doing in self._watched.ahead.items())
        return [Text(f"  ahead of need: {told}", style="dim", overflow="ellipsis", no_wrap=True)] if told else []

    def _question(self, question: Question) -> list[Text]:
        from rich.text import Text

        head = Text(one_line(clean(question.spec), 200), style="bold", overflow="ellipsis", no_wrap=True)
        names = max(len(name) for name, _ in question.cases)
        width = max(8, self._console.width - names - 18)
        lines = [head]
        for name, role in question.cases:
            line = Text(f"  {name:<{names}} {'control' if role == 'control' else '':<8}", no_wrap=True)
            for symbol in strip(question, name, width):
                line.append(symbol, style=COLOURS[symbol])
            lines.append(line)
        ranges = sorted(
            {pair for name, role in question.cases if role == "test" for pair in open_ranges(question, name)}
        )
        between = "; ".join(f"{first} … {last}" for first, last in ranges)
        ends = f"  {question.builds[0]} … {question.builds[-1]}, {len(question.builds)} builds, {question.device}"
        lines.append(Text(f"{ends}{f'. Changes between {between}' if between else ''}", style="dim", no_wrap=True))
        return lines

    def _downloads(self) -> list[Text]:
        from rich.text import Text

        done, total = download_totals(self._watched)
        if not total:
            return []
        filled = round(24 * done / total)
        waiting = [name for name, (here, size) in self._watched.downloads.items() if here < (size or 1)]
        bar = "━" * filled + "╌" * (24 - filled)
        text = f"  {bar} {format_size(done)} of {format_size(total)}  {', '.join(waiting[:4])}"
        return [Text(text, style="cyan", overflow="ellipsis", no_wrap=True)]

    def _left(self) -> Text:
        from rich.text import Text

        watched = self._watched
        gone = format_duration(watched.clock() - watched.started)
        left = f", about {format_duration(watched.seconds_left)} left" if watched.seconds_left else ""
        line = f"  {_to_go(watched.steps_left)}{left}; {gone} so far"
        legend = "  ".join(f"{symbol} {state}" for state, symbol in SYMBOLS.items())
        # On a narrow terminal it has a line of its own: cut off, it would explain nothing.
        gap = "   " if len(line) + len(legend) + 3 <= self._console.width else "\n  "
        return Text(f"{line}{gap}{legend}", style="dim", overflow="ellipsis", no_wrap=True)


def _to_go(builds: int) -> str:
    return f"about {plural(builds, 'build')} to go" if builds else "no build to go"
