"""What a watcher of a run knows: the events so far, as the state that a view draws. Pure but for the clock it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from bisect_tool.reports import events
from bisect_tool.reports.report import State

SYMBOLS: dict[State, str] = {"pass": "✓", "failing": "✗", "flaky": "~", "untestable": "?", "not tried": "·"}


@dataclass(slots=True)
class Question:
    """One spec of the run: its builds, its cases and the states known so far, by (case, build)."""

    spec: str
    package: str
    device: str
    builds: tuple[str, ...]
    cases: tuple[tuple[str, str], ...]
    states: dict[tuple[str, str], State] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Doing:
    """What a slot is at, since `since` (seconds); a trial ends at the latest after its `timeout`."""

    what: str
    since: float
    timeout: float | None = None


@dataclass(slots=True)
class Watched:
    """The run as it stands. `doing` since `since` (seconds of `clock`); `downloads` are (bytes here, bytes in all).

    `slots` has what each one is at, where there are several; `ahead` what is made in the background, by build.
    """

    clock: Callable[[], float]
    questions: list[Question] = field(default_factory=list)
    build: str = ""
    why: str = ""
    doing: str = "looking at what is known"
    since: float = 0.0
    started: float = 0.0
    steps_left: int = 0
    seconds_left: float | None = None
    downloads: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    timeout: float | None = None
    slots: dict[str, Doing] = field(default_factory=dict)
    ahead: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.started = self.since = self.clock()

    def take(self, event: events.Event) -> None:
        """Take the next event."""
        match event:
            case events.RunStarted():
                self.questions.append(Question(event.spec, event.package, event.device, event.builds, event.cases))
                self.steps_left = max(self.steps_left, event.steps_left)
            case events.BuildChosen():
                self.build, self.why = event.build, event.why
                self.steps_left, self.seconds_left = event.steps_left, event.seconds_left
                self._do(f"preparing {event.build}", event.slot)
            case events.Installing():
                self.downloads = {}
                self._do(f"installing {event.build}", event.slot)
            case events.Downloading():
                self.downloads[event.name] = (event.done, event.total)
            case events.Checking():
                self._do(f"proving that {event.build} is what was installed", event.slot)
            case events.Waiting():
                self._do(f"waiting: {event.why} ({event.build})", event.slot)
            case events.TrialStarted():
                self.downloads = {}
                again = " again, to verify" if event.purpose == "verify" else ""
                self._do(f"running {event.case} on {event.build}{again}", event.slot, event.timeout)
            case events.StateKnown():
                self._mark(event.case, event.build, event.state)
            case events.Untestable():
                for question in self.questions:
                    for case, _ in question.cases:
                        self._mark(case, event.build, "untestable")
            case _:
                self._take_of_slots(event)

    def _take_of_slots(self, event: events.Event) -> None:
        match event:
            case events.SlotsOpened():
                self.slots = {slot: Doing("idle", self.clock()) for slot in event.slots}
            case events.SlotsJoined():
                self.slots |= {slot: Doing("idle", self.clock()) for slot in event.slots}
            case events.CalledOff():
                self._do(f"{event.build} is called off", event.slot)
            case events.SlotLost():
                self._do(f"{'rests' if event.rests else 'lost'}: {event.reason}", event.slot)
            case events.MakingAhead():
                self.ahead[event.build] = event.doing
            case events.MadeAhead():
                self.ahead.pop(event.build, None)
            case _:
                pass

    def _do(self, what: str, slot: str | None, timeout: float | None = None) -> None:
        if slot is not None and self.slots:
            self.slots[slot] = Doing(what, self.clock(), timeout)
        else:
            self.doing, self.since, self.timeout = what, self.clock(), timeout

    def _mark(self, case: str, build: str, state: State) -> None:
        for question in self.questions:
            if build in question.builds and any(case == name for name, _ in question.cases):
                question.states[case, build] = state


def strip(question: Question, case: str, width: int) -> str:
    """One symbol a build; where there are more builds than `width`, one for each group, known states before unknown."""
    states = [question.states.get((case, build), "not tried") for build in question.builds]
    groups = max(1, min(width, len(states)))
    cells = [states[len(states) * n // groups : len(states) * (n + 1) // groups] for n in range(groups)]
    return "".join(SYMBOLS[_most_telling(cell)] for cell in cells)


def _most_telling(cell: list[State]) -> State:
    order: tuple[State, ...] = ("failing", "flaky", "untestable", "pass", "not tried")
    return min(cell, key=order.index)


def open_ranges(question: Question, case: str) -> list[tuple[str, str]]:
    """The neighbouring builds between which the case changed and something is left to try."""
    numbers = {build: number for number, build in enumerate(question.builds)}
    known = [
        (build, question.states[case, build])
        for build in question.builds
        if question.states.get((case, build), "untestable") != "untestable"
    ]
    return [
        (first, last)
        for (first, left), (last, right) in pairwise(known)
        if left != right and numbers[last] - numbers[first] > 1
    ]


def download_totals(watched: Watched) -> tuple[int, int]:
    """Bytes that are here, and bytes announced."""
    sizes = [(done, total or done) for done, total in watched.downloads.values()]
    return sum(done for done, _ in sizes), sum(total for _, total in sizes)
