from __future__ import annotations

import io

import pytest
from rich.console import Console

from bisect_tool.reports import events
from bisect_tool.reports.live import PlainView, _Picture, choose_view, plain_line
from bisect_tool.reports.report import State
from bisect_tool.reports.watching import Watched, download_totals, open_ranges, strip

BUILDS = tuple(f"1.{n}" for n in range(400))
START = events.RunStarted("A title", "toy", BUILDS, (("main", "test"), ("eager", "control")), "cpu", 10)


def watched(*more: events.Event) -> Watched:
    made = Watched(lambda: 100.0)
    for event in (START, *more):
        made.take(event)
    return made


def known(build: str, state: State) -> events.StateKnown:
    return events.StateKnown("main", build, state, None)


def test_the_strip_keeps_a_single_failure_among_hundreds() -> None:
    question = watched(known("1.0", "pass"), known("1.213", "failing")).questions[0]
    assert strip(question, "main", 50).count("✗") == 1
    assert len(strip(question, "main", 50)) == 50


def test_the_range_that_is_left_is_told() -> None:
    question = watched(known("1.0", "pass"), known("1.100", "failing"), known("1.399", "failing")).questions[0]
    assert open_ranges(question, "main") == [("1.0", "1.100")]


def test_neighbours_leave_no_range() -> None:
    question = watched(known("1.99", "pass"), known("1.100", "failing")).questions[0]
    assert open_ranges(question, "main") == []


def test_downloads_add_up() -> None:
    made = watched(
        events.Downloading("1.0", "torch", 0, 500), events.Downloading("1.0", "triton", 0, 200),
        events.Downloading("1.0", "triton", 200, 200),
    )  # fmt: skip
    assert download_totals(made) == (200, 700)


def test_the_picture_tells_what_is_done_how_much_is_left_and_fits_the_terminal() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
    made = watched(
        known("1.0", "pass"),
        events.BuildChosen("1.200", "split", 7, 130.0),
        events.TrialStarted("1.200", "main", "search", 300),
    )
    with console.capture() as capture:
        console.print(_Picture(made, console))
    text = capture.get()
    assert "running main on 1.200" in text
    assert "about 7 builds to go, about 2 min 10 s left" in text
    assert "✓ pass  ✗ failing  ~ flaky  ? untestable  · not tried" in text
    assert max(len(line) for line in text.splitlines()) <= 60


def test_the_picture_has_a_line_for_each_slot_and_for_what_is_made_ahead() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
    made = watched(
        events.SlotsOpened(("1", "2", "3")),
        events.TrialStarted("1.200", "main", "search", 300, "1"),
        events.Installing("1.100", 500, "2"),
        events.SlotLost("3", "Xid 79"),
        events.MakingAhead("1.300", "downloading"),
    )
    with console.capture() as capture:
        console.print(_Picture(made, console))
    text = capture.get()
    assert "slot 1  running main on 1.200, 0.0 s of at most 5 min" in text
    assert "slot 2  installing 1.100" in text
    assert "slot 3  lost: Xid 79" in text
    assert "ahead of need: downloading 1.300" in text
    made.take(events.MadeAhead("1.300", 3.0, is_ready=True))
    assert made.ahead == {}


def test_slots_that_join_get_lines_too_and_so_do_those_that_come_again() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    made = watched(
        events.SlotsOpened(("node-1 slot 1", "node-2 slot 1")),
        events.SlotLost("node-2 slot 1", "node-2 (host): Ray does not reach it any more"),
        events.SlotsJoined(("node-2 slot 1", "node-3 slot 1")),
        events.Installing("1.100", 500, "node-3 slot 1"),
    )
    with console.capture() as capture:
        console.print(_Picture(made, console))
    text = capture.get()
    assert "slot node-2 slot 1  idle" in text
    assert "slot node-3 slot 1  installing 1.100" in text
    assert (
        plain_line(events.SlotsJoined(("node-2 slot 1", "node-3 slot 1"))) == "new slots: node-2 slot 1, node-3 slot 1"
    )


def test_a_slot_without_room_is_not_said_to_be_lost() -> None:
    event = events.SlotLost("node-2 slot 1", "node-2 (host): no space", rests=True)
    words = (
        "slot node-2 slot 1 has no room and is tried again later, its work goes to the others: node-2 (host): no space"
    )
    assert plain_line(event) == words
    made = watched(events.SlotsOpened(("node-1 slot 1", "node-2 slot 1")), event)
    assert made.slots["node-2 slot 1"].what == "rests: node-2 (host): no space"


def test_a_run_that_had_one_slot_shows_all_of_them_once_others_join() -> None:
    made = watched(events.SlotsJoined(("b",)), events.Installing("1.100", 500, "a"))
    assert {name: doing.what for name, doing in made.slots.items()} == {"b": "idle", "a": "installing 1.100"}


def test_plain_lines_name_the_slot_where_there_are_several() -> None:
    assert plain_line(events.Installing("1.2", None, "2")) == "[slot 2] 1.2: installing"
    assert plain_line(events.Installing("1.2", None)) == "1.2: installing"
    assert plain_line(events.CalledOff("1.2", "2")) == "[slot 2] 1.2: called off: a newer result has answered it"


def test_plain_lines_tell_when_and_what() -> None:
    out = io.StringIO()
    view = PlainView(Console(file=out, width=200), clock=iter([0.0, 75.0]).__next__)
    view(events.TrialFinished("1.2", "main", "failing", "zero-gradient", 20.0, stored=False))
    assert out.getvalue() == "[1 min 15 s] 1.2: main: failing (zero-gradient) in 20 s\n"


def test_text_of_a_repro_cannot_move_the_cursor() -> None:
    out = io.StringIO()
    view = PlainView(Console(file=out, width=200), clock=lambda: 0.0)
    view(events.Untestable("1.2", "bad \x1b[2J\x07 reason"))
    assert "\x1b" not in out.getvalue()
    assert "bad  reason" in out.getvalue() or "bad reason" in out.getvalue()


def test_a_pipe_gets_plain_lines_and_quiet_gets_none() -> None:
    out = io.StringIO()
    with choose_view(Console(file=out), plain=False, quiet=False) as view:
        view(START)
    assert "400 builds of toy" in out.getvalue()
    silent = io.StringIO()
    with choose_view(Console(file=silent), plain=False, quiet=True) as view:
        view(START)
    assert silent.getvalue() == ""


class Departed(io.StringIO):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> int:
        raise self.error


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    "error", [BrokenPipeError(32, "Broken pipe"), OSError(5, "Input/output error"), ValueError("closed file")]
)
def test_a_run_outlives_its_watcher(error: Exception, *, terminal: bool) -> None:
    stream = Departed(error)
    console = Console(file=stream, force_terminal=terminal)
    with choose_view(console, plain=False, quiet=False) as view:
        view(START)
        view(events.Notice("nobody reads this"))
    assert console.file is stream
