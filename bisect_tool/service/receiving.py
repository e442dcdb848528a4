"""Hearing GitHub: `POST /api/v1/github/webhook`. What is a command is kept, and worked off by `asking`; the rest is let go.

GitHub waits ten seconds for an answer, sends some deliveries twice, and in any order. It does not send again what was answered
with an error, so that only what cannot be kept is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from sqlalchemy import Connection, update
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.service.access import Here
from bisect_tool.service.api.words import problems
from bisect_tool.service.github.command import command_lines
from bisect_tool.service.github.issue import REPOSITORY
from bisect_tool.service.github.marker import mark_of
from bisect_tool.service.problems import Refused
from bisect_tool.service.services import Services
from bisect_tool.service.signing import is_from_github
from bisect_tool.service.talk_settings import GitHubSettings, TalkSettings
from bisect_tool.store.database import Database
from bisect_tool.store.records import storable
from bisect_tool.store.service_tables import asked, deliveries

MOST_BYTES = (
    1_000_000  # of a delivery: an issue and a comment of 65,536 characters each, escaped, and what is around them
)
_DELIVERY = re.compile(r"[A-Za-z0-9-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")

router = APIRouter(prefix="/api/v1/github", tags=["github"])


class Received(BaseModel):
    """What became of a delivery."""

    outcome: str = Field(description="`asked`, `ignored: …` or `received before`.")


def talk_of(request: Request) -> TalkSettings:
    """How the server talks."""
    services: Services = request.app.state.services
    return services.talk


@router.post(
    "/webhook",
    status_code=202,
    responses=problems(400, 401, 404, 408, 413),
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}},
    summary="What GitHub calls when somebody comments on an issue",
)
async def receive(
    request: Request,
    services: Here,
    talk: Annotated[TalkSettings, Depends(talk_of)],
    x_github_event: Annotated[str, Header(max_length=100)] = "",
    x_github_delivery: Annotated[str, Header(max_length=100)] = "",
    x_hub_signature_256: Annotated[str, Header(max_length=200)] = "",
) -> Received:
    """Take a delivery of GitHub. It must be signed with the secret that both sides know (`X-Hub-Signature-256`)."""
    github = talk.github
    if not github.secret:
        raise Refused(404, "no webhook of GitHub is set up here", "docs/github.md says how")
    body = await _body(request)
    if not is_from_github(github.secret, body, x_hub_signature_256):
        raise Refused(401, "the signature is not right", "see that both sides have the same secret")
    if not _DELIVERY.fullmatch(x_github_delivery):
        raise Refused(400, "the delivery has no id", "GitHub sends one in X-GitHub-Delivery")
    content = _content(body)
    return await run_in_threadpool(keep, services.database, github, x_github_event, x_github_delivery, content)


async def _body(request: Request) -> bytes:
    """The raw body. Raises `Refused` for one that is too large, before all of it was read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise Refused(
                413, f"a delivery of more than {MOST_BYTES:,} bytes is not read", "send events of comments only"
            )
        parts.append(part)
    return b"".join(parts)


def _content(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise Refused(
            400, "the body is not an object of JSON", "choose the content type application/json for the webhook"
        )
    return content


def keep(database: Database, github: GitHubSettings, event: str, delivery: str, content: Mapping[str, Any]) -> Received:
    """Keep the command of a delivery, in the transaction that notes the delivery; a second one of the same id does nothing."""
    row, outcome = None, "asked"
    try:
        row = _command(github, event, content)
    except _Ignored as error:
        outcome = f"ignored: {error}"
    except (KeyError, TypeError, ValueError, AttributeError):
        outcome = "ignored: it is not what GitHub sends"
    insert = (postgresql if database.is_server else sqlite).insert
    noted = insert(deliveries).values(id=delivery, received=database.now(), outcome=outcome).on_conflict_do_nothing()
    noted = noted.returning(deliveries.c.id)

    def change(connection: Connection) -> str:
        if connection.execute(noted).first() is None:
            # From now on it counts anew: what was sent again can be sent again for some days (`upkeep`).
            again = update(deliveries).where(deliveries.c.id == delivery).values(received=database.now())
            connection.execute(again)
            return "received before"
        if row is not None:
            added = insert(asked).values(**row, received=database.now()).on_conflict_do_nothing().returning(asked.c.id)
            # Two webhooks, of the repository and of its owner, send the same comment with different ids.
            return outcome if connection.execute(added).first() is not None else "received before"
        return outcome

    return Received(outcome=database.write(change))


class _Ignored(Exception):
    """Why a delivery is no command."""


def _command(github: GitHubSettings, event: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The row of `asked` for a delivery. Raises `_Ignored`, and what a content of another shape raises."""
    if event != "issue_comment":
        raise _Ignored("ping" if event == "ping" else "no comment on an issue")
    if content["action"] != "created":
        raise _Ignored("only new comments are read")
    repository = str(content["repository"]["full_name"]).lower()
    if not REPOSITORY.fullmatch(repository) or repository not in github.repositories:
        raise _Ignored("not one of the repositories")
    comment, issue = content["comment"], content["issue"]
    lines = command_lines(str(comment["body"] or ""))
    if not lines:
        raise _Ignored("no command")
    return {
        "comment": str(int(comment["id"])),
        "repository": repository,
        "issue": int(issue["number"]),
        "login": _speaker(github, content),
        "said": json.dumps([storable(line) for line in lines[:10]]),
        "report": _report(comment, issue),
        "state": "waiting",
    }


def _speaker(github: GitHubSettings, content: Mapping[str, Any]) -> str:
    """Who gave the command. Raises `_Ignored` for programs, and for people who may not."""
    comment = content["comment"]
    login = str(comment["user"]["login"])
    is_program = comment["user"].get("type") != "User" or content.get("sender", {}).get("type", "User") != "User"
    if is_program or comment.get("performed_via_github_app") or mark_of(str(comment["body"])) is not None:
        raise _Ignored("written by a program")
    if str(content.get("sender", {}).get("login", login)).lower() != login.lower():
        raise _Ignored("sent by somebody else than its author")
    if comment.get("author_association") not in github.associations:
        raise _Ignored("the author may not ask")
    if not _LOGIN.fullmatch(login):
        raise _Ignored("an author without a name")
    return login


def _report(comment: Mapping[str, Any], issue: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number": int(issue["number"]),
        "title": storable(str(issue.get("title") or "")),
        "body": storable(str(issue.get("body") or "")),
        "html_url": storable(str(issue["html_url"])),
        "created_at": str(issue.get("created_at") or ""),
        "is_pull_request": "pull_request" in issue,
        "comment_address": storable(str(comment["html_url"])),
    }
