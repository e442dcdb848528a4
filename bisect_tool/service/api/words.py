"""What routes of several files say alike: which question, which problems."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path

from bisect_tool.service.access import Here
from bisect_tool.service.api.models import EXAMPLE_ID
from bisect_tool.service.problems import MEDIA, not_found
from bisect_tool.service.question import Question

# A control character is in no name of ours, and PostgreSQL takes no NUL.
PLAIN = r"^[^\x00-\x1f\x7f]*$"
_MEANINGS = {
    400: "The body cannot be read.",
    401: "A token is needed, or the one given is not valid.",
    403: "The token does not allow this, or the request comes from another web site.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "This cannot be done as it stands.",
    413: "The body is too large.",
    415: "The body is of a kind that is not taken.",
    422: "The request has mistakes; all of them are listed.",
    429: "Too many requests; `Retry-After` says when to ask again.",
    502: "The place where logs are kept does not give this one.",
    503: "The server cannot do this now; `Retry-After` says when to ask again.",
}

QuestionId = Annotated[str, Path(pattern="^q[0-9a-f]{20}$", description="The id of a question.", examples=[EXAMPLE_ID])]


def asked(question: QuestionId, services: Here) -> Question:
    """The question of the address. Raises `Refused` (404)."""
    found = services.questions.get(question)
    if found is None:
        raise not_found(f"there is no question {question}")
    return found


Asked = Annotated[Question, Depends(asked)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented problems of a route; every route may be refused with 401, 403, 422, 429 and 503."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _MEANINGS[status], "content": {MEDIA: {"schema": schema}}}
        for status in sorted({*statuses, 401, 403, 422, 429, 503})
    }
