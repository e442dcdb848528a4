"""Telling how the studies of failures that come and go stand, while a run is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from bisect_tool.reports import events
from bisect_tool.reports.study_stand import SideRate, StudyStand
from bisect_tool.runs.session import Session
from bisect_tool.search.answer import FailureAnswer
from bisect_tool.search.flaky.evidence import Evidence, evidence_of
from bisect_tool.search.flaky.interval import Rate, rate_of
from bisect_tool.search.flaky.noticing import terms_of
from bisect_tool.search.flaky.picture import chances
from bisect_tool.search.flaky.remaining import remaining
from bisect_tool.search.flaky.study import Study, Terms
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged
from bisect_tool.search.policy import Flakiness

DIGITS = 4  # of a chance
LEAST_MOVE = 0.01  # of a chance, that is told
LEAST_GROWTH = 1.1  # of the number of trials: what is believed may stay the same for long


@dataclass(slots=True)
class RateNews:
    """Tells of studies whenever they have moved by as much as an eye would see; a run makes hundreds of trials."""

    tell: Callable[[events.Event], None]
    _told: dict[tuple[str, str, str], events.RatesStudied] = field(default_factory=dict)

    def look(self, run: str, session: Session) -> None:
        """Tell what is new in the studies of the question of `run`; nothing where no case comes and goes."""
        if not may_study(session):
            return
        for failure in session.answer().failures:
            if failure.studies:
                self._look(run, stands(session, failure))

    def _look(self, run: str, now: events.RatesStudied) -> None:
        key = (run, now.case, now.failure)
        if has_moved(self._told.get(key), now):
            self._told[key] = now
            self.tell(now)


def may_study(session: Session) -> bool:
    """Whether a case may come and go: told in no time, since it is asked before every decision."""
    match session.asked.policy.flaky:
        case Flakiness.YES:
            return True
        case Flakiness.AUTO:
            return any(len(set(results)) > 1 for results in session.known().results.values() if len(results) > 1)
        case _:
            return False


def has_moved(before: events.RatesStudied | None, now: events.RatesStudied) -> bool:
    """Whether somebody who saw `before` would see a difference."""
    if before is None or [_shape(one) for one in before.studies] != [_shape(one) for one in now.studies]:
        return True
    return any(_has_moved(old, new) for old, new in zip(before.studies, now.studies, strict=True))


def _shape(stand: StudyStand) -> tuple[object, ...]:
    return (stand.first, stand.last, stand.verdict, stand.before, stand.after, len(stand.chances))


def _has_moved(before: StudyStand, now: StudyStand) -> bool:
    moved = max((abs(old - new) for old, new in zip(before.chances, now.chances, strict=True)), default=0.0)
    return moved >= LEAST_MOVE or now.trials >= LEAST_GROWTH * before.trials


def stands(session: Session, failure: FailureAnswer) -> events.RatesStudied:
    """How the studies of a failure stand."""
    question, known, case = session.question, session.known(), failure.case
    evidence = evidence_of(question, known, case, failure.failure)
    terms = terms_of(question, known, case, session.asked.policy)
    example = session.failures[failure.failure]
    name = example.name or example.signature.title
    return events.RatesStudied(case, name, tuple(_stands(evidence, terms, failure.studies)))


def _stands(evidence: Evidence, terms: Terms, studies: tuple[Study, ...]) -> Iterator[StudyStand]:
    for study in studies:
        spread = dict(chances(study))
        places = range(study.low + 1, study.high + 1) if spread else ()
        left = remaining(evidence, terms, study)
        stand = StudyStand(
            first=study.low,
            last=study.high,
            trials=evidence.total(evidence.judged(study.low, study.high)).trials,
            verdict="unfinished",
            older=_side(rate_of(evidence.tally(study.low))),
            newer=_side(rate_of(evidence.tally(study.high))),
            chances=tuple(round(spread.get(build, 0.0), DIGITS) for build in places),
            trials_left=left.trials if left else None,
            seconds_left=round(left.seconds, 1) if left else None,
        )
        yield _with_verdict(stand, study)


def _with_verdict(stand: StudyStand, study: Study) -> StudyStand:
    match study.verdict:
        case Found(before, after, confidence, older, newer, _):
            found = replace(stand, verdict="found", before=before, after=after, confidence=confidence)
            return replace(found, older=_side(older), newer=_side(newer))
        case NotConverged(before, after, _, older, newer, _):
            open_ = replace(stand, verdict="not converged", before=before, after=after)
            return replace(open_, older=_side(older), newer=_side(newer))
        case NoReliableChange():
            return replace(stand, verdict="no reliable change")
        case None:
            return stand


def _side(rate: Rate) -> SideRate:
    return SideRate(rate.tally.shown, rate.tally.trials, round(rate.low, DIGITS), round(rate.high, DIGITS))
