"""The diary of a run: every decision of the search, kept in the results database and told to whoever wants to know why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bisect_tool import __version__
from bisect_tool.reports import events
from bisect_tool.runs.record_places import places
from bisect_tool.runs.session import Session
from bisect_tool.search import record
from bisect_tool.search.abreast import Decision, Under
from bisect_tool.search.explaining import sentences
from bisect_tool.search.knowledge import Known
from bisect_tool.search.together import Asking, Choice
from bisect_tool.store.results import Results


@dataclass(slots=True)
class Diary:
    """Keeps the record of `sessions`, whose `runs` are known by these ids; with `tell` it explains each decision, too.

    Without `runs` nothing is kept.
    """

    results: Results
    runs: Sequence[str]
    sessions: Sequence[Session]
    tell: Callable[[events.Event], None] | None = None
    _opening: record.Line = field(default_factory=dict)
    _before: list[Known] | None = None
    _weights: list[record.Weights] = field(default_factory=list)
    _number: int = 0

    def note(self, askings: Sequence[Asking], choice: Choice | None) -> None:
        """A decision was made."""
        weighed = self._begin(askings)
        self._keep(askings, record.decision(self._number, self._before, askings, choice, weighed))

    def note_abreast(self, askings: Sequence[Asking], under: Sequence[Under], free: int, made: Decision) -> None:
        """A decision for several slots was made."""
        weighed = self._begin(askings)
        line = record.decision_abreast(self._number, self._before, askings, (under, free), made, weighed)
        self._keep(askings, line)

    def _begin(self, askings: Sequence[Asking]) -> dict[int, record.Weights]:
        """Count the decision; the weights that are new."""
        if not self._opening:
            self._open(askings)
        self._number += 1
        weights = [asking.question.weights for asking in askings]
        weighed = {place: row for place, row in enumerate(weights) if row != self._weights[place]}
        self._weights = weights
        return weighed

    def _keep(self, askings: Sequence[Asking], line: record.Line) -> None:
        if self.runs:
            self.results.add_decision(self.runs[0], self._number, record.text_of(line))
        self._before = [asking.known for asking in askings]
        if self.tell is not None:
            names = {
                name: failure.name or failure.signature.title
                for session in self.sessions
                for name, failure in session.failures.items()
            }
            for sentence in sentences(self._opening, line, names):
                self.tell(events.Notice(sentence))

    def _open(self, askings: Sequence[Asking]) -> None:
        self._weights = [asking.question.weights for asking in askings]
        builds = [[build.version for build in session.asked.builds] for session in self.sessions]
        self._opening = record.opening(askings, builds, __version__)
        if self.runs:
            where = places([session.asked for session in self.sessions])
            self.results.add_decision(self.runs[0], 0, record.text_of({**self._opening, **where}))
            others = {
                run: record.text_of({"same as": self.runs[0], "place": place, "about": where["about"][place]})
                for place, run in enumerate(self.runs)
            }
            self.results.add_to_decisions({run: others[run] for run in self.runs[1:]}, 0)
