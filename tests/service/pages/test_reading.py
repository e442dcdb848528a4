"""What the pages ask the database itself, on each kind of it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from bisect_tool.service.pages.reading import summaries, titles
from bisect_tool.service.question import Asker, Question, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import Database
from bisect_tool.store.results import open_results
from tests.reports import samples

SPEC = "name: toy-spec\npackage: toy\nchannel: release\nscript: repro.py\n"


@pytest.fixture
def answered(address: StoreAddress, questions: Questions, queue: Queue) -> Question:
    submitted = questions.submit(Submission(SPEC, (("repro.py", b"print(1)"),)), Asker()).question
    work = queue.take("w" * 32, ["any", "cpu"])
    assert work is not None
    report = samples.exact()
    with open_results(address, nullcontext) as results:
        results.start_run("run", spec="toy-spec", repro=submitted.repro, package="toy")
        results.end_run("run", report.outcome, report.model_dump(mode="json", by_alias=True))
    queue.finish(work, "run", report.outcome)
    found = questions.get(submitted.id)
    assert found is not None
    return found


def test_of_a_report_the_list_reads_the_sentences(database: Database, answered: Question) -> None:
    assert summaries(database, [answered]) == {"run": ("zero-grad appeared in 2.12.0 and was fixed in 2.14.0.",)}
    assert summaries(database, []) == {}


def test_a_question_without_a_title_is_called_by_its_name(database: Database, answered: Question) -> None:
    assert titles(database, [answered.id, "q-none"]) == {answered.id: "toy-spec"}
