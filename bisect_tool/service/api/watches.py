"""Watches: what was answered when, and what is watched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bisect_tool.service.access import Here, Reader, Worker
from bisect_tool.service.answer_news import News
from bisect_tool.service.answers import Answer, Answers
from bisect_tool.service.api.models import Given
from bisect_tool.service.api.words import Asked, problems
from bisect_tool.service.problems import not_found
from bisect_tool.service.question import Purpose
from bisect_tool.service.recheck import Kind, Verdict
from bisect_tool.service.reviews import Review, Reviews
from bisect_tool.service.services import Services
from bisect_tool.service.watches import DAY, Watches, WatchRules

router = APIRouter(tags=["watches"])


def _moment(seconds: object) -> object:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, (int, float)) else seconds


Moment = Annotated[datetime, BeforeValidator(_moment)]


class _Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class NewsShown(_Shown):
    """Something that an answer says and the one before did not: `event` says what, `details` are those of its kind."""

    event: str
    sentence: str
    details: dict[str, Any]


class AnswerShown(_Shown):
    """One finished answer: its `run`, and the run `before` whose answer it took the place of; `open` failures."""

    job: int
    purpose: Purpose
    run: str
    before: str | None
    at: Moment
    outcome: str | None
    open: int
    news: list[NewsShown]


class CheckShown(_Shown):
    """Two builds of a change that were run again; `note` says what was seen instead, or why nobody can tell."""

    case: str
    name: str
    kind: Kind
    without: str
    with_: str = Field(serialization_alias="with")
    verdict: Verdict
    note: str


class DoubtShown(_Shown):
    """The review that came to something else than the present answer."""

    run: str | None
    verdict: Verdict
    checks: list[CheckShown]
    replaced: list[str]


class HistoryShown(_Shown):
    """What was answered when, the newest first, and the review that casts doubt on the newest answer, if one does."""

    answers: list[AnswerShown]
    doubt: DoubtShown | None


class WatchShown(_Shown):
    """Whether a question is asked again when new builds come: `is_on` now, until a time, because somebody has `chosen` so."""

    is_on: bool
    open: int = Field(description="How many failures the newest build has.")
    chosen: bool | None
    until: Moment | None


class WatchChoice(Given):
    """What to do: `true` watches as long as a failure is open, `false` never, `null` as it is by itself."""

    watch: bool | None


@router.get("/questions/{question}/history", responses=problems(404))
def get_history(question: Asked, services: Here, _: Reader) -> HistoryShown:
    """What was answered when. Earlier reports stay: each run names the report that it ended with."""
    found = Answers(services.database).history(question.id)
    doubt = Reviews(services.database).doubted(question.id)
    return HistoryShown(answers=[shown_answer(one) for one in found], doubt=shown_doubt(doubt))


@router.get("/questions/{question}/history/{run}", responses=problems(404))
def get_earlier_report(
    question: Asked, run: Annotated[str, Path(pattern="^[0-9a-f]{32}$")], services: Here, _: Reader
) -> dict[str, Any]:
    """The report of an answer, also of one that another has taken the place of (docs/report-schema.json)."""
    runs = {one.run for one in Answers(services.database).history(question.id)}
    report = services.results.report_of(run) if run in runs else None
    if report is None:
        raise not_found(f"the question {question.id} has no answer of the run {run}")
    return report


@router.get("/questions/{question}/watch", responses=problems(404))
def get_watch(question: Asked, services: Here, _: Reader) -> WatchShown:
    """Whether a question is asked again when new builds come."""
    return WatchShown.model_validate(watches_of(services).of(question.id))


@router.put("/questions/{question}/watch", responses=problems(400, 404, 408, 413))
def set_watch(question: Asked, services: Here, _: Worker, choice: WatchChoice) -> WatchShown:
    """Say whether a question is watched."""
    return WatchShown.model_validate(watches_of(services).choose(question.id, is_watched=choice.watch))


def watches_of(services: Services) -> Watches:
    """The watches with the settings of the server."""
    settings = services.settings
    return Watches(services.database, WatchRules(every=settings.watch_every, lasts=settings.watch_days * DAY))


def shown_answer(answer: Answer) -> AnswerShown:
    """An answer as the API shows it."""
    fields = ("job", "purpose", "run", "before", "at", "outcome", "open")
    told = [_shown_news(one) for one in answer.news]
    return AnswerShown.model_validate({**{name: getattr(answer, name) for name in fields}, "news": told})


def shown_doubt(review: Review | None) -> DoubtShown | None:
    """A review as the API shows it."""
    if review is None:
        return None
    found = review.found
    return DoubtShown.model_validate(
        {"run": review.run, "verdict": found.verdict, "checks": list(found.checks), "replaced": list(found.replaced)}
    )


def _shown_news(one: News) -> NewsShown:
    details = one.model_dump(mode="json", exclude={"event"})
    return NewsShown(event=one.event, sentence=one.sentence, details=details)
