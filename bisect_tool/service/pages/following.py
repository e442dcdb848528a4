"""The live views of jobs that somebody watches: each event is read once, however often and by how many it is looked at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.pages.live_view import Followed, LiveView, view_of

MOST_JOBS = 100  # that are remembered; the one that was looked at longest ago is forgotten first
_PART = 500


@dataclass(slots=True)
class _Watched:
    followed: Followed = field(default_factory=Followed)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class Following:
    """What one process has read of the events of jobs."""

    most: int = MOST_JOBS
    _jobs: OrderedDict[int, _Watched] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def view(self, events: EventLog, question: str, job: int, now: float) -> LiveView:
        """The view of a job with all that has happened until now."""
        watched = self._watched(job)
        with watched.lock:
            _read(events, question, job, watched.followed)
            return view_of(watched.followed, now)

    def _watched(self, job: int) -> _Watched:
        with self._lock:
            watched = self._jobs.setdefault(job, _Watched())
            self._jobs.move_to_end(job)
            while len(self._jobs) > self.most:
                self._jobs.popitem(last=False)
            return watched


def _read(events: EventLog, question: str, job: int, followed: Followed) -> None:
    while True:
        part = events.after(followed.last, question, _PART)
        for event in part:
            if event.job == job:
                followed.take(event)
            followed.last = event.id
        if len(part) < _PART:
            return
