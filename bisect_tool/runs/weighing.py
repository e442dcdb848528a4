"""`--prior history`: where the commits between the builds say that a change is likely, the search looks first.

The clues are those of the suspects: the traceback of the failure, its words and those of the repro, the packages that differ
between the two ends. So the weights come once both ends were run and one of them failed. They never change the answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bisect_tool.errors import BisectError
from bisect_tool.history.clues import Sought
from bisect_tool.history.likelihood import likelihoods
from bisect_tool.history.projects import Project
from bisect_tool.history.revisions import revision_of
from bisect_tool.reports import events
from bisect_tool.runs.failure_clues import FailureClues
from bisect_tool.runs.history_reading import HOW, HistoryReader, with_revision
from bisect_tool.runs.session import Session
from bisect_tool.search.knowledge import judged_of, timeline
from bisect_tool.search.states import face

FEWEST = 8  # builds between the ends; below that a search by halves is as good


@dataclass(slots=True)
class Weigher:
    """Gives sessions their weights, each once. `tell` takes what is worth knowing about it."""

    history: HistoryReader
    tell: Callable[[events.Event], None]
    _done: set[int] = field(default_factory=set)

    def weigh(self, session: Session) -> None:
        """Weigh the builds of a session once its ends differ. Raises nothing for a history that cannot be read."""
        if id(session) in self._done or session.asked.question.size < FEWEST:
            return
        found = _differing_ends(session)
        if found is None:
            return
        self._done.add(id(session))
        project = session.asked.project
        weights = self._weights(session, project, *found) if project else None
        if weights is None:
            name = project.repository if project else session.asked.spec.package
            self.tell(events.Notice(f"no prior from the history of {name}: its commits are not known; {HOW}"))
            return
        session.weigh(weights)

    def _weights(self, session: Session, project: Project, case: str, low: int, high: int) -> tuple[float, ...] | None:
        asked = session.asked
        if asked.nightlies is None and self.history.access.clone is None:
            return None  # each build would cost a request
        older, newer = (
            with_revision(asked.builds[number], session.healths.get(asked.builds[number].identity, {}))
            for number in (low, high)
        )
        looked = self.history.look(project, older, newer, asked.nightlies)
        if looked.found is None or looked.found.commits is None:
            return None
        states = judged_of(timeline(asked.question, session.known(), case))
        shows, sought = (high, Sought.BREAK) if face(states[high]) - face(states[low]) else (low, Sought.FIX)
        failure = min(face(states[shows]))
        listed = looked.found.commits.listed
        likely = likelihoods(listed, FailureClues(session).of(failure, case, sought, shows, ()))
        order = [entry.sha for entry in listed]
        return spread(order, likely, self._places(session, project, order, low, high), asked.question.size)

    def _places(
        self, session: Session, project: Project, order: Sequence[str], low: int, high: int
    ) -> Mapping[int, int]:
        """For the builds after the older end whose commit is in the list: its place there."""
        places = {sha: place for place, sha in enumerate(order)}
        source = self.history.source(project)
        found = {}
        for number in range(low + 1, high + 1):
            try:
                revision = revision_of(session.asked.builds[number], source, session.asked.nightlies)
            except BisectError:  # one build without a known commit: its weight goes to the next that has one
                continue
            if revision.sha in places:
                found[number] = places[revision.sha]
        return found


def _differing_ends(session: Session) -> tuple[str, int, int] | None:
    """The first case whose oldest and newest judged builds differ, and those; None while there is none."""
    question, known = session.asked.question, session.known()
    for case in question.tests:
        states = judged_of(timeline(question, known, case))
        if len(states) > 1:
            low, high = min(states), max(states)
            if face(states[low]) != face(states[high]):
                return case, low, high
    return None


def spread(
    order: Sequence[str], likely: Mapping[str, float], places: Mapping[int, int], size: int
) -> tuple[float, ...] | None:
    """The weight of each commit for the first build that holds it; None when no build's commit is known.

    `order` are the commits, oldest first; `places` where the builds stand among them.
    """
    if not places:
        return None
    builds = sorted(places)
    standing = [places[build] for build in builds]
    weights = [0.0] * size
    for place, sha in enumerate(order):
        first = bisect_left(standing, place)
        if first < len(builds):
            weights[builds[first]] += likely.get(sha, 0.0)
    return tuple(weights)
