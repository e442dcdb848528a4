"""The queue and the workers, as they are now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import func, select

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import QueueShown, WaitingJob, WorkerList, shown_job, shown_worker
from bisect_tool.service.api.words import problems
from bisect_tool.service.question import JobState
from bisect_tool.service.workers import Workers
from bisect_tool.store.service_tables import jobs

router = APIRouter(tags=["work"])


@router.get("/queue", responses=problems())
def get_queue(
    services: Here,
    _: Reader,
    most: Annotated[int, Query(ge=1, le=1000, description="How many of those that wait.")] = 100,
) -> QueueShown:
    """The jobs that wait, the next one first, and how many are worked on."""
    waiting = services.queue.waiting()
    shown = [
        WaitingJob(
            position=place.position, job=shown_job(place.job), question=place.job.question, age=place.age, why=place.why
        )
        for place in waiting[:most]
    ]
    query = select(func.count()).where(jobs.c.state == JobState.RUNNING)
    running = services.database.read(lambda connection: connection.execute(query).scalar_one())
    return QueueShown(waiting=shown, total=len(waiting), running=running)


@router.get("/workers", responses=problems())
def list_workers(services: Here, _: Reader) -> WorkerList:
    """The workers, those that started last first."""
    seen = Workers(services.database, services.queue.span).seen()
    return WorkerList(workers=[shown_worker(worker) for worker in seen])
