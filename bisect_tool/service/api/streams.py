"""What happens during the work on a question, as a stream of server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import AppStatus
from starlette.concurrency import run_in_threadpool

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.words import Asked, problems
from bisect_tool.service.event_log import StoredEvent
from bisect_tool.service.feed import Closing, Feed
from bisect_tool.service.question import ANSWERING, JobState, QuestionState
from bisect_tool.service.services import Services

# `Feed.close` ends the streams, with a word; the library would do it for the whole process, and without one.
AppStatus.enable_automatic_graceful_drain = False
router = APIRouter(tags=["events"])
PING = 15  # seconds between two signs of life of a stream
PATIENCE = 30.0  # seconds in which a client takes a piece
RECONNECT = 2000  # milliseconds before a client opens a broken stream again
MOST_ID = 2**53
_EXAMPLE = (
    'id: 7\ndata: {"id": 7, "job": 1, "at": 1796061600.0, "kind": "run_finished", "body": {"outcome": "exact"}}\n\n'
)
_SCHEMA = {  # of one event
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "For `Last-Event-ID`."},
        "event": {"type": "string", "description": "`end`, `stopping`, or `message`."},
        "data": {"type": "string", "contentMediaType": "application/json"},
        "retry": {"type": "integer"},
    },
}
_MEANING = (
    "Server-sent events. `data` is an object with `id`, `job`, `at` (seconds since 1970), `kind` and `body`. "
    "An event called `end` says that the question has ended, `stopping` that the server stops: connect again."
)
_ENDED = {QuestionState.ANSWERED, QuestionState.FAILED, QuestionState.CANCELLED}
_OPEN = {JobState.WAITING, JobState.RUNNING}


@router.get(
    "/questions/{question}/events",
    response_class=EventSourceResponse,
    responses={
        **problems(404),
        200: {
            "description": _MEANING,
            "content": {"text/event-stream": {"schema": _SCHEMA, "example": _EXAMPLE}},
        },
    },
)
async def get_events(
    question: Asked,
    request: Request,
    services: Here,
    visitor: Reader,
    after: Annotated[int, Query(ge=0, le=MOST_ID, description="Only events after this one.")] = 0,
    until_end: Annotated[bool, Query(description="End the stream when the question has ended.")] = False,  # noqa: FBT002  a part of the query
    last_event_id: Annotated[str | None, Header(max_length=100, description="As `after`, of a browser.")] = None,
) -> EventSourceResponse:
    """The events of a question: those that are kept, then those that come, until the client leaves."""
    feed: Feed = request.app.state.feed
    feed.check_room(visitor.key)
    last = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdecimal() else after
    pieces = _counted(feed, visitor.key, _pieces(feed, services, question.id, min(last, MOST_ID), until_end=until_end))
    return EventSourceResponse(pieces, ping=PING, send_timeout=PATIENCE, sep="\n")


async def _counted(
    feed: Feed, who: str, pieces: AsyncGenerator[ServerSentEvent, None]
) -> AsyncIterator[ServerSentEvent]:
    # A client that leaves closes the outermost of these generators; the others are closed here, not some time later.
    with feed.watched_by(who):
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece


async def _pieces(
    feed: Feed, services: Services, question: str, last: int, *, until_end: bool
) -> AsyncGenerator[ServerSentEvent, None]:
    yield ServerSentEvent(comment="bisect", retry=RECONNECT)
    is_caught_up = False
    try:
        async with aclosing(feed.events_of(question, last)) as events:
            async for event in events:
                if event is not None:
                    yield ServerSentEvent(json.dumps(values_of(event)), id=str(event.id))
                is_caught_up = is_caught_up or event is None
                might_be_over = is_caught_up and (event is None or event.kind == "job_ended")
                if until_end and might_be_over and (state := await run_in_threadpool(end_of, services, question)):
                    yield ServerSentEvent(json.dumps({"state": state}), event="end")
                    return
    except Closing:
        yield ServerSentEvent("{}", event="stopping")


def values_of(event: StoredEvent) -> dict[str, Any]:
    """An event as a client sees it."""
    return {"id": event.id, "job": event.job, "at": event.at, "kind": event.kind, "body": dict(event.body)}


def end_of(services: Services, question: str) -> QuestionState | None:
    """The state of a question whose answer nobody works on any more, else None; watches and reviews are not waited for."""
    found = services.questions.get(question)
    if found is None or found.state not in _ENDED:
        return None
    of_question = services.questions.jobs(question)
    return None if any(job.purpose in ANSWERING and job.state in _OPEN for job in of_question) else found.state
