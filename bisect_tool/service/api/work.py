"""The queue and the workers, as they are now."""

from __future__ import annotations

from fastapi import APIRouter

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import WorkerList, shown_worker
from bisect_tool.service.api.words import problems
from bisect_tool.service.workers import Workers

router = APIRouter(tags=["work"])


@router.get("/workers", responses=problems())
def list_workers(services: Here, _: Reader) -> WorkerList:
    """The workers, those that started last first."""
    seen = Workers(services.database, services.queue.span).seen()
    return WorkerList(workers=[shown_worker(worker) for worker in seen])
