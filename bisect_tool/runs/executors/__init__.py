"""Where the work of a run is done: opening environments and running trials, in slots.

The loop decides, stores and judges, in one thread; an executor does what takes time, in as many slots as it has, and makes
environments ahead of need in the background. A slot does one job at a time. What happens comes back as arrivals, in the order
in which it happened. A further executor is one more file here, see `choosing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bisect_tool.builds.build import Installation
from bisect_tool.environments.environment import Environment, EnvironmentKey, Step
from bisect_tool.errors import BisectError, DiskFull
from bisect_tool.stopping import Stop
from bisect_tool.store.leases import Lease
from bisect_tool.trials.trial import FinishedTrial, Forking, TrialOrder


@dataclass(frozen=True, slots=True)
class OpenEnvironment:
    """Open the environment of `key`, made where needed and proven on `device`.

    Ends with `Opened`, or with what `Environments.use` raises.
    """

    key: EnvironmentKey
    install: Callable[[], Installation] = field(repr=False)
    device: str
    as_of: datetime | None


# Waits for a lease; is told whom to tell who holds it, and what ends the wait.
Turn = Callable[[Callable[[str], None], Stop], AbstractContextManager[Lease]]


@dataclass(frozen=True, slots=True)
class HoldLock:
    """Wait for the lock at `path`, which keeps other runs from making the same trial. Ends with `Held`.

    Where several hosts share a store `turn` is waited for instead (`executors.holding` enters either).
    """

    path: Path
    turn: Turn | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class RunTrial:
    """Run one trial in an open environment; `folder` is made and keeps its log. Ends with `RanTrial`.

    With `forking` it is forked from a process of this machine, where that can be.
    """

    order: TrialOrder
    environment: Environment
    folder: Path
    forking: Forking | None = None


Job = OpenEnvironment | HoldLock | RunTrial


class OpenThing(Protocol):
    """Something that a job has left open."""

    def close(self) -> None:
        """Let go of it; from any thread, once."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The environment is open until its lease is closed."""

    environment: Environment
    lease: OpenThing


@dataclass(frozen=True, slots=True)
class Held:
    """The lock is held until its lease is closed; `turn` is what was waited for, where that was one."""

    lease: OpenThing
    turn: Lease | None = None


@dataclass(frozen=True, slots=True)
class RanTrial:
    """The trial has ended."""

    finished: FinishedTrial


Result = Opened | Held | RanTrial


class SlotLost(Exception):
    """The device of a slot is lost or must not be trusted: the slot does nothing more, and its work is for others."""


class SlotFull(SlotLost):
    """There is no room where the slot is: others get its work, and `SlotsRested` says when it may try again.

    `error` is what ends the run when no slot has room.
    """

    def __init__(self, text: str, error: DiskFull) -> None:
        super().__init__(text)
        self.error = error


class NoRoom(Exception):
    """There is no room to make an environment ahead of need."""


@dataclass(frozen=True, slots=True)
class WaitingForLock:
    """Another run holds the lock; `by` says which one, where that is known."""

    by: str = ""


@dataclass(frozen=True, slots=True)
class WaitingForFirst:
    """Another slot makes the first environment of an empty cache, and with it fetches what most of them need."""


@dataclass(frozen=True, slots=True)
class GpuNews:
    """Something worth knowing about the card of a slot."""

    text: str


News = Step | WaitingForLock | WaitingForFirst | GpuNews


@dataclass(frozen=True, slots=True)
class Told:
    """News of the job of a slot. `at` is the time of the executor's clock, in seconds, as in all arrivals."""

    slot: int
    news: News
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The job of a slot has ended, with its result or what it raised: `Cancelled` when it was called off."""

    slot: int
    result: Result | BaseException
    at: float


@dataclass(frozen=True, slots=True)
class AheadTold:
    """News of an environment that is made ahead of need, by the digest of its key."""

    digest: str
    step: Step
    at: float


@dataclass(frozen=True, slots=True)
class AheadEnded:
    """An environment is ready ahead of need; or `error` is why not: `NoRoom`, `Cancelled`, what `Environments.use` raises."""

    digest: str
    error: BaseException | None
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class PlaceNews:
    """Something worth knowing about where the slots are: a machine came, or is gone."""

    text: str
    at: float


@dataclass(frozen=True, slots=True)
class SlotsJoined:
    """Slots of these `names` were added at the end of `Executor.slots`."""

    names: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True)
class SlotsRested:
    """These `slots`, whose jobs ended with `SlotFull`, may be tried again."""

    slots: tuple[int, ...]
    at: float


@dataclass(frozen=True, slots=True)
class NoSlotCame:
    """All slots are lost, and the executor has waited long enough for others; `error` says so."""

    error: BisectError
    at: float


Arrival = Told | Ended | AheadTold | AheadEnded | PlaceNews | SlotsJoined | SlotsRested | NoSlotCame


class Executor(Protocol):
    """Does the jobs of a run. Its methods are called from the thread of the loop."""

    @property
    def slots(self) -> Sequence[str]:
        """What people call each slot; a slot is known by its place in here. Slots may be added at the end, none goes."""

    @property
    def regrows(self) -> bool:
        """Whether slots may come: when all are lost, `SlotsJoined` or `NoSlotCame` arrives."""

    def prefers(self, slot: int, digest: str) -> bool:
        """Whether the environment with this digest of its key is where the slot is, and not where other slots are."""

    def retire(self, slot: int) -> None:
        """A slot without a job that was lost gets no job any more."""

    def start(self, slot: int, job: Job) -> None:
        """Begin a job in a slot that has none; gives back at once."""

    def cancel(self, slot: int) -> None:
        """Call the job of a slot off: it still ends, with `Cancelled` or, when that came too late, with its result."""

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        """What has happened since the last call, oldest first; waits for something to happen, at most `timeout` seconds."""

    def prepare(self, job: OpenEnvironment, size: int | None) -> None:
        """Make an environment ahead of need, in the background, after those that were asked for before.

        `size` are the bytes of its wheel. It ends with `AheadEnded`.
        """

    def drop(self, digest: str) -> None:
        """Call an environment off that is being made ahead, or is to be."""

    def close(self) -> None:
        """Call everything off, and wait until nothing of it is left. Results that came too late can still be taken."""
