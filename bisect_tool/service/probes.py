"""What machines ask of a server: whether it lives, whether it can work, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from sqlalchemy import text

from bisect_tool.errors import BisectError
from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import Health
from bisect_tool.service.api.words import problems
from bisect_tool.service.feed import Feed
from bisect_tool.service.metrics import MEDIA

router = APIRouter(tags=["probes"])


@router.get("/healthz")
async def healthz() -> Health:
    """The process lives and answers. It asks nobody else, so that a database that is away does not get it killed."""
    return Health(status="ok")


@router.get("/readyz", responses={503: {"model": Health, "description": "It cannot work now."}})
def readyz(request: Request, response: Response, services: Here) -> Health:
    """The database answers, and the server does not stop."""
    feed: Feed = request.app.state.feed
    failing = ["stopping"] if feed.is_closing else []
    try:
        services.database.read(lambda connection: connection.execute(text("SELECT 1")))
    except BisectError:
        failing.append("database")
    response.status_code = 503 if failing else 200
    return Health(status="failing" if failing else "ok", failing=failing)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        **problems(),
        200: {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
)
def metrics(request: Request, _: Reader) -> Response:
    """The metrics of this process and of the queue, for prometheus."""
    return Response(request.app.state.metrics.text(), media_type=MEDIA)
