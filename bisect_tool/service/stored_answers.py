"""From a row of the index to an answer: the same facts, under their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bisect_tool.service.finding import Answer, Commit, End, Episode, Match
from bisect_tool.store.found_asking import FoundRow


def answer_of(row: FoundRow, match: Match, score: float) -> Answer:
    """What the report of a row says."""
    entry = row.entry
    failure: Mapping[str, Any] = entry.get("failure") or {}
    return Answer(
        match=match,
        score=round(score, 2),
        failure=row.failure,
        identity=row.identity,
        case=failure.get("case", ""),
        title=row.title,
        kind=failure.get("kind", ""),
        spec=row.spec,
        spec_title=entry["spec_title"],
        issue=entry["issue"],
        package=row.package,
        channel=entry["channel"],
        device=row.device,
        python=entry["python"],
        first=entry["first"],
        last=entry["last"],
        outcome=entry["outcome"],
        finished=row.finished,
        episodes=tuple(_episode(one) for one in failure.get("episodes", ())),
        summary=tuple(entry["summary"]),
        run=row.run,
        ended=row.ended,
        repeat=entry["repeat"],
    )


def _episode(values: Mapping[str, Any]) -> Episode:
    appeared, fixed = values["appeared"], values["fixed"]
    return Episode(_end(appeared, "last_without", "first_with"), _end(fixed, "last_with", "first_without"))


def _end(values: Mapping[str, Any], before: str, after: str) -> End:
    older, newer = values.get(before), values.get(after)
    return End(
        kind=values["kind"],
        before=older,
        after=newer,
        before_date=values["dates"].get(older),
        after_date=values["dates"].get(newer),
        verified=bool(values.get("verified")),
        untestable=tuple(values["untestable"]),
        untestable_count=values["untestable_count"],
        compare=values.get("compare"),
        confidence=values.get("confidence"),
        is_rate=bool(values.get("is_rate")),
        not_tried=values["not_tried"],
        instead=tuple(values["instead"]),
        same_code=values.get("same_code"),
        also_differs=values.get("also_differs"),
        suspects=tuple(Commit(one["sha"], one.get("title", ""), one.get("pull")) for one in values["suspects"]),
    )
