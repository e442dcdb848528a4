"""From the studies of a flaky failure to what the report says of its rate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bisect_tool.reports.rates import Chance, Rate, RateStudy
from bisect_tool.runs.session import Session
from bisect_tool.search.answer import FailureAnswer
from bisect_tool.search.flaky.evidence import evidence_of
from bisect_tool.search.flaky.interval import Rate as FoundRate
from bisect_tool.search.flaky.picture import chances
from bisect_tool.search.flaky.study import Study
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged


def rate_parts(session: Session, failure: FailureAnswer) -> tuple[RateStudy, ...]:
    """The studies of a failure; empty when it does not come and go."""
    return tuple(_parts(session, failure))


def rate_at(failure: FailureAnswer, before: int | None, after: int | None) -> dict[str, Any]:
    """What a report says of the rate at an end: how sure its change is, and whether the failure shows on both sides."""
    for study in failure.studies:
        match study.verdict:
            case Found(b, a, confidence, older, newer, _) if (b, a) == (before, after):
                return {"confidence": confidence, "is_rate": _is_seen_twice(older, newer)}
            case NotConverged(b, a, _, older, newer, _) if (b, a) == (before, after):
                return {"is_rate": _is_seen_twice(older, newer)}
            case _:
                pass
    return {}


def _is_seen_twice(older: FoundRate, newer: FoundRate) -> bool:
    return older.tally.shown > 0 and newer.tally.shown > 0


def _parts(session: Session, failure: FailureAnswer) -> Iterator[RateStudy]:
    asked = session.asked
    if not failure.studies:
        return
    evidence = evidence_of(asked.question, session.known(), failure.case, failure.failure)
    for study in failure.studies:
        yield RateStudy(
            first=asked.builds[study.low].label,
            last=asked.builds[study.high].label,
            trials=evidence.total(evidence.judged(study.low, study.high)).trials,
            chances=tuple(
                Chance(build=asked.builds[build].label, chance=round(chance, 6)) for build, chance in chances(study)
            ),
            **_verdict(session, study),
        )


def _verdict(session: Session, study: Study) -> dict[str, Any]:
    builds = session.asked.builds
    match study.verdict:
        case Found(before, after, confidence, older, newer, _):
            named = {"before": builds[before].label, "after": builds[after].label}
            return {"verdict": "found", **named, "confidence": confidence, **_sides(older, newer)}
        case NotConverged(before, after, _, older, newer, _):
            named = {"before": builds[before].label, "after": builds[after].label}
            return {"verdict": "not converged", **named, **_sides(older, newer)}
        case NoReliableChange(_, _, older, newer, _):
            return {"verdict": "no reliable change", **_sides(older, newer)}
        case None:
            return {"verdict": "unfinished"}


def _sides(older: FoundRate, newer: FoundRate) -> dict[str, Rate]:
    return {"older": rate_part(older), "newer": rate_part(newer)}


def rate_part(rate: FoundRate) -> Rate:
    """A rate as the report has it."""
    return Rate(shown=rate.tally.shown, trials=rate.tally.trials, low=rate.low, high=rate.high)
