"""How far one spec of a run has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.reports.report import Isolation, Report
from bisect_tool.runs.history_reading import HistoryReader
from bisect_tool.runs.session import Session


@dataclass(slots=True)
class Course:
    """The sessions and runs of a spec, one for each channel that was searched, and the number of trials known before.

    `notes` say why it went no further. `given` is the report that was made last, with how the course stood then.
    """

    runs: list[str]
    sessions: list[Session]
    known: int
    notes: list[str] = field(default_factory=list)
    isolation: tuple[Isolation, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    given: tuple[object, Report] | None = None

    @property
    def last(self) -> Session:
        """The session of the channel that is searched now."""
        return self.sessions[-1]

    @property
    def is_spared(self) -> bool:
        """Whether a fault of its own has ended it."""
        return any(session.fault is not None for session in self.sessions)

    @property
    def stand(self) -> object:
        """Equal as long as nothing has become known."""
        return [
            (sum(map(len, one.seen.values())), len(one.broken), len(one.replaced), one.fresh_only)
            for one in self.sessions
        ]

    def has_commits(self, history: HistoryReader | None) -> bool:
        """Whether a report that is made with `history` may tell of commits."""
        return history is not None and self.last.asked.project is not None and bool(self.last.boundaries())
