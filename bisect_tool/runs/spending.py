"""Where the time goes: what the slots and the background were at, moment by moment, and the bytes that were fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from bisect_tool.environments.environment import Checking, Making, Step, Trouble, Waiting
from bisect_tool.environments.uv import Download
from bisect_tool.reports.report import TimePart


class Activity(StrEnum):
    """What time is spent on; of several at once the first in this order is what the run is said to be at.

    `WAIT`: for what another run does, or for an environment that is being made ahead.
    """

    RUN = "run"
    IMPORT = "import"
    UNPACK = "unpack"
    DOWNLOAD = "download"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` to `end`, in seconds of one clock. `is_ahead`: in the background, ahead of need."""

    activity: Activity
    start: float
    end: float
    is_ahead: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds of a run: `by` activity, each moment counted once, and `own` for the rest.

    `overlapped` are the seconds of activities that ran beside another one: what working in parallel and ahead has saved.
    """

    by: dict[Activity, float]
    own: float
    overlapped: float

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.by.values()) + self.own


def spent(stretches: Sequence[Stretch], start: float, end: float) -> Spent:
    """Each moment between `start` and `end` counts for the first of the activities that the slots were at.

    Where they waited, what was made ahead of need in this moment counts.
    """
    by = dict.fromkeys(Activity, 0.0)
    covered: list[tuple[float, float]] = []
    front = [one for one in stretches if not one.is_ahead]
    front += list(_awaited(stretches))
    for activity in Activity:
        own = [(one.start, one.end) for one in front if one.activity is activity]
        merged = _merged([*covered, *own])
        by[activity] = _length(merged) - _length(covered)
        covered = merged
    busy = _length(covered)
    worked = sum(one.end - one.start for one in stretches if one.activity is not Activity.WAIT)
    return Spent(by, max(0.0, end - start - busy), max(0.0, worked - busy + by[Activity.WAIT]))


def _awaited(stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """The parts of what was made ahead during which a slot waited."""
    waits = _merged((one.start, one.end) for one in stretches if one.activity is Activity.WAIT)
    for one in stretches:
        for start, end in waits if one.is_ahead else ():
            if one.start < end and start < one.end:
                yield Stretch(one.activity, max(one.start, start), min(one.end, end))


def _merged(pieces: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(pieces):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _length(pieces: Iterable[tuple[float, float]]) -> float:
    return sum(end - start for start, end in pieces)


@dataclass(slots=True)
class Work:
    """The making of one environment, as its steps tell it: `fetched` bytes in `fetching` seconds.

    `broken_off` bytes more came of files that did not come whole.
    """

    is_ahead: bool = False
    fetched: int = 0
    fetching: float = 0.0
    broken_off: int = 0
    _at: tuple[Activity, float] | None = None
    _open: dict[str, int] = field(default_factory=dict)
    _since: dict[str, int] = field(default_factory=dict)  # bytes that lay here when a file was first told of
    _here: dict[str, int] = field(default_factory=dict)
    _announced: int = 0
    _checks: bool = False

    def take(self, step: Step, at: float) -> Iterator[Stretch]:
        """Take the next step; gives the stretch that ends with it, if one does."""
        match step:
            case Making():
                yield from self._turn(Activity.UNPACK, at)
            case Checking():
                self._checks = True
                yield from self._turn(Activity.IMPORT, at)
            case Download(name, size, done, here):
                if here:
                    self._since.setdefault(name, here)
                    self._here[name] = here
                if done or not here:  # what lies between the beginning and the end changes no activity
                    yield from self._downloading(name, size, at, done=done)
            case Waiting():
                yield from self._turn(Activity.WAIT, at)
            case Trouble():
                pass

    def end(self, at: float) -> Iterator[Stretch]:
        """It has ended."""
        yield from self._turn(None, at)
        self.broken_off += sum(self._here.get(name, 0) - self._since.get(name, 0) for name in self._open)
        self._open.clear()

    @property
    def is_here(self) -> bool:
        """Whether all that was announced has come, or it is being proven."""
        return self._checks or (self._announced > 0 and not self._open)

    @property
    def is_proven_now(self) -> bool:
        """Whether it is being proven, which needs no network."""
        return self._checks

    def _downloading(self, name: str, size: int | None, at: float, *, done: bool) -> Iterator[Stretch]:
        if not done:
            self._open[name] = size or 0
            self._announced += size or 0
            yield from self._turn(Activity.DOWNLOAD, at)
            return
        began = self._open.pop(name, None)
        self.fetched += began or size or 0
        if began is not None and not self._open:
            yield from self._turn(Activity.UNPACK, at)

    def _turn(self, activity: Activity | None, at: float) -> Iterator[Stretch]:
        """Be at another activity from now on."""
        if self._at is not None:
            before, since = self._at
            if before is activity:
                return
            if before is Activity.DOWNLOAD:
                self.fetching += at - since
            yield Stretch(before, since, at, self.is_ahead)
        self._at = None if activity is None else (activity, at)


class Estimate(Protocol):
    """What a question was estimated to take: bytes (None: unknown) and seconds."""

    @property
    def download(self) -> int | None:
        """Bytes to fetch."""

    @property
    def seconds(self) -> float:
        """Time."""


@dataclass(slots=True)
class Ledger:
    """The books of a run: every stretch of its searches, between `started` and `ended`, and what was made ahead of need."""

    started: float
    ended: float | None = None
    stretches: list[Stretch] = field(default_factory=list)
    trials: int = 0
    made_ahead: int = 0
    used_ahead: int = 0
    slots: int = 1
    estimated_seconds: float | None = None
    estimated_bytes: int | None = None

    def estimate(self, guess: Estimate) -> None:
        """Add what one of the questions was estimated to take."""
        self.estimated_seconds = round((self.estimated_seconds or 0.0) + guess.seconds, 1)
        self.estimated_bytes = (self.estimated_bytes or 0) + (guess.download or 0)

    def part(self, fetched: int, now: float) -> TimePart:
        """The books as the report shows them, with the bytes that were `fetched`; `now` is the end when there was none."""
        end = self.ended or now
        found = spent(self.stretches, self.started, end)
        return TimePart(
            total_s=round(end - self.started, 2),
            run_s=round(found.by[Activity.RUN], 2),
            import_s=round(found.by[Activity.IMPORT], 2),
            unpack_s=round(found.by[Activity.UNPACK], 2),
            download_s=round(found.by[Activity.DOWNLOAD], 2),
            wait_s=round(found.by[Activity.WAIT], 2),
            own_s=round(found.own, 2),
            overlapped_s=round(found.overlapped, 2),
            slots=self.slots,
            trials=self.trials,
            bytes_fetched=fetched,
            made_ahead=self.made_ahead,
            used_ahead=self.used_ahead,
            estimated_s=self.estimated_seconds,
            estimated_bytes=self.estimated_bytes,
        )

    def ran(self, seconds: float, at: float) -> None:
        """A trial has run for so long, and its end is `at`."""
        self.trials += 1
        self.stretches.append(Stretch(Activity.RUN, at - seconds, at))
