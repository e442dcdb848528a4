"""How often the service was right, as it has measured itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.accuracy import Accuracy, Coverage, Precision, Reviewed, read_accuracy
from bisect_tool.service.api.words import problems
from bisect_tool.service.recheck import Verdict

router = APIRouter(tags=["accuracy"])


class PrecisionShown(BaseModel):
    """Of `same` + `differs` answers that were found again or not, the `share` of `same`, from `low` to `high` with 95 %."""

    share: float | None = Field(description="0 to 1; null without any.")
    low: float
    high: float
    same: int
    differs: int
    no_answer: int = Field(description="A build could not be judged again.")
    replaced: int = Field(description="Another file lies under the name of a build now.")


class CoverageShown(BaseModel):
    """How many of the questions asked have an answer; the counts of both, by outcome and by reason."""

    share: float | None
    asked: int
    answered: int
    outcomes: dict[str, int]
    why_not: dict[str, int]


class ReviewShown(BaseModel):
    """One old answer that was run again; `is_doubted`: it differs, and there is no newer one."""

    question: str
    name: str
    package: str
    at: datetime
    verdict: Verdict
    is_doubted: bool


class AccuracyShown(BaseModel):
    """`answers` counts whole answers, `changes` single ends; `kinds`, `packages` and `weeks` (the Monday) are of answers."""

    answers: PrecisionShown
    changes: PrecisionShown
    kinds: dict[str, PrecisionShown]
    packages: dict[str, PrecisionShown]
    weeks: dict[str, PrecisionShown]
    coverage: CoverageShown
    doubted: list[ReviewShown]
    last: list[ReviewShown]


@router.get("/accuracy", responses=problems())
def get_accuracy(services: Here, _: Reader) -> AccuracyShown:
    """The precision of a sample of old answers whose builds were run again, and how many questions have an answer."""
    return _shown(read_accuracy(services.database))


def _shown(found: Accuracy) -> AccuracyShown:
    return AccuracyShown(
        answers=_precision(found.answers),
        changes=_precision(found.changes),
        kinds=_each(found.kinds),
        packages=_each(found.packages),
        weeks=_each(found.weeks),
        coverage=_coverage(found.coverage),
        doubted=[_review(one) for one in found.doubted],
        last=[_review(one) for one in found.last],
    )


def _each(groups: Mapping[str, Precision]) -> dict[str, PrecisionShown]:
    return {name: _precision(one) for name, one in groups.items()}


def _precision(one: Precision) -> PrecisionShown:
    names = ("share", "low", "high", "same", "differs", "no_answer", "replaced")
    return PrecisionShown(**{name: getattr(one, name) for name in names})


def _coverage(one: Coverage) -> CoverageShown:
    counts = {"outcomes": dict(one.outcomes), "why_not": dict(one.why_not)}
    return CoverageShown(share=one.share, asked=one.asked, answered=one.answered, **counts)


def _review(one: Reviewed) -> ReviewShown:
    names = ("question", "name", "package", "verdict", "is_doubted")
    at = datetime.fromtimestamp(one.at, UTC)
    return ReviewShown(**{name: getattr(one, name) for name in names}, at=at)
