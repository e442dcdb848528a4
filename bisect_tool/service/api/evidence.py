"""The evidence: trials with command, environment, signature and log."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Response
from fastapi import Path as InPath

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import TrialList, shown_trial
from bisect_tool.service.api.words import PLAIN, Asked, problems
from bisect_tool.service.evidence import Evidence
from bisect_tool.service.problems import Refused, not_found
from bisect_tool.service.question import Question
from bisect_tool.service.services import Services
from bisect_tool.store.kept_logs import LogUnread, kept_logs

router = APIRouter(tags=["evidence"])
_LOG = logging.getLogger("bisect.service")
Case = Annotated[str, InPath(max_length=100, pattern=PLAIN, description="The name of a case.", examples=["inductor"])]
Build = Annotated[
    str, InPath(max_length=100, pattern=PLAIN, description="The version of a build.", examples=["2.14.0"])
]
Number = Annotated[int, InPath(ge=1, le=2**53, description="The number of a trial.", examples=[1])]


@router.get("/questions/{question}/trials/{case}/{build}", responses=problems(404))
def get_trials(question: Asked, case: Case, build: Build, services: Here, _: Reader) -> TrialList:
    """The trials of a case on a build, in the order in which they ended."""
    found = evidence_of(services).trials(question, case, build)
    if not found:
        raise not_found(f"no trial of the case {case!r} on the build {build} is stored")
    return TrialList(trials=[shown_trial(trial, question.id) for trial in found])


@router.get(
    "/questions/{question}/logs/{number}",
    response_class=Response,
    responses={
        **problems(404, 502),
        200: {"description": "The log.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
)
def get_log(question: Asked, number: Number, services: Here, _: Reader) -> Response:
    """What a trial printed, the first 8 MB of it."""
    return Response(log_of(services, question, number), media_type="text/plain")


def log_of(services: Services, question: Question, number: int) -> bytes:
    """The log of a trial. Raises `Refused`: 404 when it is nowhere, 502 when the place where it is kept does not give it."""
    try:
        found = evidence_of(services).log(question, number)
    except LogUnread as error:
        _LOG.warning("a log cannot be read: %s", error)
        advice = "look for it on the host that made the trial" if error.is_gone else "try again later, or read it there"
        what = f"the log of this trial is kept elsewhere, and cannot be read: {error.why}"
        raise Refused(404 if error.is_gone else 502, what, advice, where=error.where) from error
    if found is None:
        raise not_found(
            f"the log of the trial {number} is not on this host",
            "look at the `log` of the trial, or on the host that made it",
        )
    return found


def evidence_of(services: Services) -> Evidence:
    """The evidence of this server."""
    logs = services.settings.logs
    if logs and "://" in logs:
        return Evidence(services.results, services.cache.root, kept=kept_logs(logs))
    return Evidence(services.results, services.cache.root, Path(logs) if logs else None)
