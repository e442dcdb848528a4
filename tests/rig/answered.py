"""A question that is answered without any work."""

from __future__ import annotations

from sqlalchemy import insert

from bisect_tool.reports.report import Report
from bisect_tool.service.question import Asker, Submission
from bisect_tool.service.services import Services
from bisect_tool.store.tables import runs


def answered(services: Services, submission: Submission, report: Report, run: str = "run1") -> str:
    """Ask, and answer with `report`; gives the id of the question."""
    question = services.questions.submit(submission, Asker()).question.id
    taken = services.queue.take("worker", ("any", "cpu"))
    assert taken is not None
    values = {
        "id": run,
        "spec": "s",
        "repro": "r",
        "package": "toy",
        "started": "",
        "report": report.model_dump(mode="json"),
    }
    with services.database.engine.begin() as connection:
        connection.execute(insert(runs).values(**values))
    services.queue.finish(taken, run, report.outcome)
    return question
