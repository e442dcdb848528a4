"""Questions: handed in, listed, looked at, cancelled, tried again."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from bisect_tool.service.access import Here, Reader, Submitter, Visitor, Worker
from bisect_tool.service.api.handing_in import FORM, JSON, HandedIn, read_question
from bisect_tool.service.api.models import (
    JobShown,
    QuestionList,
    QuestionShown,
    QuestionWhole,
    Retry,
    Submitted,
    question_values,
    shown_job,
    shown_question,
)
from bisect_tool.service.api.words import PLAIN, Asked, problems
from bisect_tool.service.problems import Refused
from bisect_tool.service.question import USUAL_PRIORITY, Filter, QuestionState
from bisect_tool.service.services import Services
from bisect_tool.service.tokens import Scope

router = APIRouter(tags=["questions"])
_CURSOR = r"^0x[01]\.[0-9a-f]{1,13}p\+[0-9]{1,2}-q[0-9a-f]{20}$"
_FILE = {"type": "string", "format": "binary"}
_FORM_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "spec": {"type": "string", "description": "The text of the spec; left out: `spec.yaml` among the files."},
        "files": {"type": "array", "items": _FILE, "description": "The files; their names are their paths."},
        "archive": {**_FILE, "description": "Instead of both: a zip or tar with `spec.yaml` and its files."},
        "priority": {"type": "integer", "minimum": 0, "maximum": 100},
        "source": {"type": "string", "maxLength": 500},
    },
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/NewQuestion"}},
            FORM: {"schema": _FORM_SCHEMA},
        },
    }
}


@router.post(
    "/questions",
    status_code=201,
    responses={**problems(400, 408, 413, 415), 200: {"model": Submitted, "description": "It was asked before."}},
    openapi_extra=_BODY,
)
async def submit(request: Request, response: Response, services: Here, visitor: Submitter) -> Submitted:
    """Hand in a question. The same content again gives the question that is there, with its answer once there is one."""
    request.app.state.rates.count_submission(visitor.key)
    handed_in = await read_question(request)
    submitted = await to_thread.run_sync(_submit, services, visitor, handed_in, limiter=request.app.state.submitting)
    response.status_code = 201 if submitted.is_new else 200
    response.headers["Location"] = f"{request.url.path}/{submitted.question.id}"
    return submitted


def _submit(services: Services, visitor: Visitor, handed_in: HandedIn) -> Submitted:
    if handed_in.priority > USUAL_PRIORITY and not visitor.may(Scope.ADMIN):
        raise Refused(403, f"a priority above {USUAL_PRIORITY} needs the scope `admin`", "leave the priority out")
    found = services.questions.submit(
        handed_in.submission, visitor.asker, priority=handed_in.priority, source=handed_in.source
    )
    job = None if found.job is None else shown_job(found.job)
    return Submitted(is_new=found.is_new, question=shown_question(found.question, services.hosting), job=job)


@router.get("/questions", responses=problems())
def list_questions(
    services: Here,
    _: Reader,
    text: Annotated[str | None, Query(max_length=200, pattern=PLAIN, description="Words of names and titles.")] = None,
    state: Annotated[list[QuestionState] | None, Query(description="May be repeated.", max_length=5)] = None,
    package: Annotated[str | None, Query(max_length=100, pattern=PLAIN)] = None,
    owner: Annotated[str | None, Query(max_length=100, pattern=PLAIN)] = None,
    before: Annotated[
        str | None, Query(max_length=60, pattern=_CURSOR, description="The `next` of the page before.")
    ] = None,
    most: Annotated[int, Query(ge=1, le=200, description="How many of them.")] = 50,
) -> QuestionList:
    """The questions that fit, the last changed first."""
    wanted = Filter(text, tuple(state or ()), package, owner, before, most)
    found = services.questions.find(wanted)
    return QuestionList(questions=[shown_question(one, services.hosting) for one in found.questions], next=found.next)


@router.get("/questions/{question}", responses=problems(404))
def get_question(question: Asked, services: Here, _: Reader) -> QuestionWhole:
    """A question with its answer in sentences; the whole answer is its report."""
    report = services.questions.report(question.id) or {}
    return QuestionWhole(
        **question_values(question, services.hosting),
        summary=list(report.get("summary", ())),
        spec=question.spec,
        files=[path for path, _ in services.questions.files(question.id)],
        jobs=[shown_job(job) for job in services.questions.jobs(question.id)],
    )


@router.post("/questions/{question}/cancel", responses=problems(404))
def cancel(question: Asked, services: Here, _: Worker) -> QuestionShown:
    """End the work on a question: what waits at once, what runs soon; what is known by then is reported."""
    return shown_question(services.questions.cancel(question.id), services.hosting)


@router.post("/questions/{question}/retry", status_code=202, responses=problems(404, 408, 413))
def retry(question: Asked, services: Here, visitor: Worker, how: Retry) -> JobShown:
    """Have a question answered again, from the trials that are known or, with `fresh`, without them."""
    return shown_job(services.questions.retry(question.id, visitor.asker, fresh=how.fresh))
