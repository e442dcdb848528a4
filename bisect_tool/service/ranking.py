"""Who is next: one number for each job that waits, in seconds; the smallest comes first.

It is the time at which the job was queued, minus `AGEING` for each point of priority, plus what its owner has used of the
workers today, plus a day for an owner who is over the budget. As time itself is what jobs are compared by, a job that waits
passes every later one after a while that is bounded: by 100 minutes for priority, a day for what was used, a day for the
budget.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select

from bisect_tool.service.job_rows import seconds_used
from bisect_tool.service.question import JobState
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs

DAY = 86_400.0
AGEING = 60.0  # seconds of waiting that are worth a point of priority


def ranked(database: Database, conditions: tuple[ColumnElement[bool], ...] = ()) -> Select[Any]:
    """All columns of the jobs that wait and keep to `conditions`, and `rank`, `spent`, `age`; who is next comes first."""
    spent = spent_today(database).subquery()
    seconds = func.coalesce(spent.c.seconds, 0.0)
    at_most = case((seconds > DAY, DAY), else_=seconds)
    is_over = case((seconds >= func.coalesce(jobs.c.seconds_a_day, seconds + 1), DAY), else_=0.0)
    rank = (jobs.c.queued - AGEING * jobs.c.priority + at_most + is_over).label("rank")
    age = (database.now() - jobs.c.queued).label("age")
    query = select(jobs, rank, seconds.label("spent"), (is_over > 0).label("is_over"), age)
    query = query.select_from(jobs.outerjoin(spent, spent.c.owner == jobs.c.owner))
    return query.where(jobs.c.state == JobState.WAITING, *conditions).order_by(rank, jobs.c.id)


def spent_today(database: Database) -> Select[Any]:
    """The seconds that workers have worked for each owner, on jobs that were last started within a day."""
    within = jobs.c.started > database.now() - DAY
    return select(jobs.c.owner, func.sum(seconds_used()).label("seconds")).where(within).group_by(jobs.c.owner)
