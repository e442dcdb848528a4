"""`GET /api/v1/posts`: what the server has told others, would have told them in a dry run, or could not."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from bisect_tool.service.access import Here, Visitor, needs
from bisect_tool.service.api.words import problems
from bisect_tool.service.posts import Post, PostKind, Posts, PostState
from bisect_tool.service.tokens import Scope

router = APIRouter(prefix="/api/v1", tags=["posts"])


class PostPart(BaseModel):
    """Something that is told to others."""

    id: int
    kind: PostKind
    address: str = Field(description="The issue, or the host of the webhook with digits that tell two of them apart.")
    question: str = Field(description="The id of the question; empty where there is none.")
    state: PostState = Field(
        description="`dry`: it would have been sent. `left`: it will not be, for the reason in `error`."
    )
    body: str = Field(description="The text: Markdown for GitHub, JSON for webhooks.")
    attempts: int
    made: float = Field(description="Seconds since 1970.")
    sent: float | None = Field(description="When it arrived for the last time; null: never.")
    error: str | None


class PostList(BaseModel):
    """Posts, the newest first."""

    posts: list[PostPart]


@router.get("/posts", responses=problems())
def posts(
    services: Here,
    _visitor: Annotated[Visitor, Depends(needs(Scope.WORK))],
    question: Annotated[str | None, Query(pattern="^q[0-9a-f]{20}$")] = None,
    state: PostState | None = None,
    most: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PostList:
    """What was told, to whom, and how that went. Needs the scope `work`."""
    found = Posts(services.database).all(question=question, state=state, most=most)
    return PostList(posts=[_part(post) for post in found])


def _part(post: Post) -> PostPart:
    return PostPart.model_validate(post, from_attributes=True)
