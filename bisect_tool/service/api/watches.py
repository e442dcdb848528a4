"""Watches: what was answered when, what is watched, builds day by day, how often answers are found again."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bisect_tool.builds.channel import names
from bisect_tool.service.access import Here, Reader, Worker
from bisect_tool.service.accuracy import read_accuracy
from bisect_tool.service.answer_news import News
from bisect_tool.service.answers import Answer, Answers
from bisect_tool.service.api.models import Given
from bisect_tool.service.api.words import Asked, problems
from bisect_tool.service.calendar import Standing, read_calendar, read_streams
from bisect_tool.service.problems import not_found
from bisect_tool.service.question import Purpose
from bisect_tool.service.recheck import Kind, Verdict
from bisect_tool.service.reviews import Review, Reviews
from bisect_tool.service.services import Services
from bisect_tool.service.watches import DAY, Watches, WatchRules
from bisect_tool.spec.model import NAME

router = APIRouter(tags=["watches"])
MONTH = timedelta(days=30)
MOST_DAYS = 400


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


class PrecisionShown(_Shown):
    """Of `same` + `differs` the share of `same`, with the bounds that hold it with 95 %; the others do not count."""

    same: int
    differs: int
    no_answer: int
    replaced: int
    share: float | None
    low: float
    high: float


class ReviewShown(_Shown):
    """An old answer that was run again."""

    question: str
    name: str
    package: str
    at: Moment
    verdict: Verdict
    is_doubted: bool
    checks: list[CheckShown]


class CoverageShown(_Shown):
    """How many questions have an answer, and why the others have none."""

    asked: int
    answered: int
    share: float | None
    outcomes: dict[str, int]
    why_not: dict[str, int]


class AccuracyShown(_Shown):
    """How often the answers of this service were found again; see docs/watches.md for what that does not say."""

    answers: PrecisionShown
    changes: PrecisionShown
    kinds: dict[str, PrecisionShown]
    packages: dict[str, PrecisionShown]
    weeks: dict[str, PrecisionShown]
    coverage: CoverageShown
    doubted: list[ReviewShown]
    last: list[ReviewShown]


class StreamShown(_Shown):
    """A package on a channel; `polled` is when it was last looked at, `error` why nobody answered then."""

    package: str
    channel: str
    newest: str | None
    polled: Moment | None
    error: str | None
    source: str | None


class StreamList(_Shown):
    """Every package and channel of which something is known."""

    streams: list[StreamShown]


class UseShown(_Shown):
    """A question whose answer looked at a build, and what it found there."""

    question: str
    name: str
    state: str
    reason: str | None


class BuildShown(_Shown):
    """A build: `status` listed, hidden, gone or used; `faults` say why it cannot be used."""

    build: str
    status: str
    variant: str | None
    size: int | None
    replaced: int
    is_broken: bool
    faults: list[str]
    uses: list[UseShown]


class MissingShown(_Shown):
    """A version that is no build, and why."""

    version: str
    reason: str


class DayShown(_Shown):
    """One day."""

    day: date
    standing: Standing
    builds: list[BuildShown]
    left_out: Annotated[list[MissingShown], BeforeValidator(lambda pairs: [_missing(one) for one in pairs])]


class CalendarShown(_Shown):
    """The builds of a package on a channel, day by day, from what the service has seen."""

    stream: StreamShown
    first: date
    last: date
    days: list[DayShown]
    undated: list[BuildShown]


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


@router.get("/accuracy", responses=problems())
def get_accuracy(
    services: Here, _: Reader, last: Annotated[int, Query(ge=0, le=1000, description="How many reviews.")] = 50
) -> AccuracyShown:
    """How often old answers were found again, and how many questions have an answer."""
    return AccuracyShown.model_validate(read_accuracy(services.database, last=last))


@router.get("/builds", responses=problems())
def list_streams(services: Here, _: Reader) -> StreamList:
    """The packages and channels that there is a calendar of."""
    return StreamList(streams=[StreamShown.model_validate(one) for one in read_streams(services.database)])


@router.get("/builds/{channel}/{package}", responses=problems(404))
def get_calendar(
    services: Here,
    _: Reader,
    channel: Annotated[str, Path(pattern=NAME)],
    package: Annotated[str, Path(pattern=NAME)],
    first: Annotated[date | None, Query(description="The first day; left out: 30 days before the last.")] = None,
    last: Annotated[date | None, Query(description="The last day; left out: today.")] = None,
) -> CalendarShown:
    """The builds of a package day by day; at most 400 days. Nothing is asked of the channel for it."""
    if channel not in names():
        raise not_found(f"there is no channel {channel}")
    end = last or datetime.fromtimestamp(services.clock(), UTC).date()
    reach = timedelta(days=MOST_DAYS - 1)
    earliest = end - reach if end - date.min > reach else date.min
    begin = max(first, earliest) if first is not None else max(earliest, end - min(MONTH, end - date.min))
    return CalendarShown.model_validate(read_calendar(services.database, package, channel, begin, end))


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


def _missing(one: object) -> object:
    return {"version": one[0], "reason": one[1]} if isinstance(one, tuple) else one
