"""What happens during a run, for whoever watches it. Durations are in seconds, sizes in bytes, builds are versions.

`slot` names the slot in which it happens, where a run has several.
"""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.reports.report import State
from bisect_tool.reports.study_stand import StudyStand


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A question is taken up. `cases` are (name, role)."""

    spec: str
    package: str
    builds: tuple[str, ...]
    cases: tuple[tuple[str, str], ...]
    device: str
    steps_left: int


@dataclass(frozen=True, slots=True)
class BuildChosen:
    """The next build, and why it is the next."""

    build: str
    why: str
    steps_left: int
    seconds_left: float | None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Installing:
    """An environment is being made; `size` is that of the wheel."""

    build: str
    size: int | None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Downloading:
    """`done` of `total` bytes of the package `name` are here."""

    build: str
    name: str
    done: int
    total: int | None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Installed:
    """The environment is ready; `cached` says that it was there before."""

    build: str
    seconds: float
    cached: bool
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Checking:
    """The health check runs."""

    build: str
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Untestable:
    """The build cannot be used."""

    build: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial begins. `purpose` is `search`, `control` or `verify`."""

    build: str
    case: str
    purpose: str
    timeout: float
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has ended with the state that the case now has; `stored` says that another run made it."""

    build: str
    case: str
    state: State
    failure: str | None
    seconds: float
    stored: bool
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class StateKnown:
    """The state of a case on a build."""

    case: str
    build: str
    state: State
    failure: str | None


@dataclass(frozen=True, slots=True)
class RatesStudied:
    """What is believed of a failure of a case that comes and goes: all its studies as they stand, oldest first."""

    case: str
    failure: str
    studies: tuple[StudyStand, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something else must end first."""

    build: str
    why: str
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class SlotsOpened:
    """The run has several slots; these are their names."""

    slots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlotsJoined:
    """Slots of these names came while the run was under way."""

    slots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalledOff:
    """What a slot was at is not wanted any more: a newer result has answered it."""

    build: str
    slot: str | None


@dataclass(frozen=True, slots=True)
class SlotLost:
    """The device of a slot is lost: it does nothing more, and its work goes to the others.

    `rests`: there is no room where it is, and it is tried again later.
    """

    slot: str
    reason: str
    rests: bool = False


@dataclass(frozen=True, slots=True)
class MakingAhead:
    """An environment is made ahead of need, in the background: `doing` is installing, downloading or proving."""

    build: str
    doing: str


@dataclass(frozen=True, slots=True)
class MadeAhead:
    """That has ended."""

    build: str
    seconds: float
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth knowing."""

    text: str


@dataclass(frozen=True, slots=True)
class MachineTrouble:
    """The machine spoiled an attempt; it is made again."""

    text: str
    attempt: int
    of: int


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The question is answered as far as it can be."""

    outcome: str


OfRun = SlotsOpened | SlotsJoined | CalledOff | SlotLost | MadeAhead | RunFinished
Event = (
    RunStarted
    | BuildChosen
    | Installing
    | Downloading
    | Installed
    | Checking
    | Untestable
    | TrialStarted
    | TrialFinished
    | StateKnown
    | RatesStudied
    | Waiting
    | MakingAhead
    | OfRun
    | Notice
    | MachineTrouble
)
