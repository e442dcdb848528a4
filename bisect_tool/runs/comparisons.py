"""All comparisons of one question: which stored trial belongs to which, which are settled, and which are still open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bisect_tool.runs.asking import Asked
from bisect_tool.runs.comparing import Compared, Comparison, Measured, Note, Side, note_of
from bisect_tool.runs.judging import from_values
from bisect_tool.runs.settling import Terms, settle
from bisect_tool.store.results import StoredTrial
from bisect_tool.trials.failure import Passed, Verdict


@dataclass(frozen=True, slots=True)
class Finished:
    """What counts as one trial of a case on `build`: a comparison, or a trial that failed before anything was compared.

    `shown` is the trial whose log stands for it; `duration` is that of all its trials together, in seconds.
    """

    build: int
    verdict: Verdict
    shown: Measured
    duration: float
    compared: tuple[Compared, ...] = ()


@dataclass(slots=True)
class Comparisons:
    """The comparisons of one question; `key_of` names a case on a build (`Session.trial_key`)."""

    asked: Asked
    key_of: Callable[[str, int], str]
    _found: dict[str, Comparison] = field(default_factory=dict)
    _builds: dict[str, dict[str, int]] = field(default_factory=dict)

    def take(self, case: str, build: int, trial: StoredTrial, verdict: Verdict) -> Finished | None:
        """Take a trial of `build`; gives what it completes, if anything.

        A trial that belongs to no comparison with the reference of today says nothing of numbers, but it may have failed.
        """
        measured = Measured(from_values(trial.observation), verdict, trial.folder, trial.command, trial.log)
        note = note_of(trial.observation)
        if note is None or note.against != self.key_of(case, self.asked.reference(case)):
            return None if isinstance(verdict, Passed) else Finished(build, verdict, measured, trial.duration)
        about = self.build_of(case, note)
        if about is None or self.is_settled(note.comparison):
            return None
        comparison = self._found.setdefault(note.comparison, Comparison(note))
        comparison.trials[note.pair, note.side] = measured
        comparison.settled = settle(comparison, self._terms(case, about))
        return None if comparison.settled is None else _finished(about, comparison, measured)

    def build_of(self, case: str, note: Note) -> int | None:
        """The build that a comparison is about, None when it is not in the range."""
        if case not in self._builds:
            self._builds[case] = {self.key_of(case, number): number for number in range(len(self.asked.builds))}
        return self._builds[case].get(note.about)

    def unfinished(self, case: str, build: int, machine: str) -> Comparison | None:
        """The newest comparison that can be continued on `machine`."""
        about, against = self.key_of(case, build), self.key_of(case, self.asked.reference(case))
        still_open = [
            one
            for one in self._found.values()
            if one.settled is None and (one.note.about, one.note.against, one.note.machine) == (about, against, machine)
        ]
        return still_open[-1] if still_open else None

    def is_settled(self, comparison: str) -> bool:
        """Whether a comparison needs no more trials."""
        found = self._found.get(comparison)
        return found is not None and found.settled is not None

    def _terms(self, case: str, build: int) -> Terms:
        asked = self.asked
        reference = asked.reference(case)
        return Terms(
            metrics=asked.spec.metrics_of(asked.case(case)),
            named=asked.spec.failures,
            reference=asked.builds[reference].version,
            build=asked.builds[build].version,
            is_reference=build == reference,
        )


def _finished(build: int, comparison: Comparison, last: Measured) -> Finished:
    """With the log of the last trial of the build, or of the trial that ended the comparison early."""
    settled = comparison.settled
    assert settled is not None
    shown = comparison.trials[comparison.pairs - 1, Side.BUILD] if settled.compared else last
    duration = sum(trial.observation.duration for trial in comparison.trials.values())
    return Finished(build, settled.verdict, shown, duration, settled.compared)
