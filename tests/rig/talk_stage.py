"""What a talking server needs for tests: questions that are answered by hand, and time that passes when it is told to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select, update

from bisect_tool.reports.report import Report
from bisect_tool.service.posts import Post, Posts
from bisect_tool.service.question import Asker, Job, Purpose, Question, fault_values
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue, Taken
from bisect_tool.service.talk_settings import GitHubSettings, TalkSettings, Target
from bisect_tool.service.talking import Talker, open_talker
from bisect_tool.store.database import Database
from bisect_tool.store.results import Results
from bisect_tool.store.service_tables import asked, jobs, posts
from tests.rig.asked import submission
from tests.rig.fake_github import TOKEN, FakeGitHub

PAGES = "https://bisect.example.org/q/"
SECRET = "a secret of the tests that GitHub knows"
REPOSITORY = "pytorch/pytorch"


@dataclass
class Stage:
    """A database with a talker; `talker` is made anew for each use, so that nothing is remembered but what is stored."""

    database: Database
    settings: TalkSettings
    _runs: int = field(default=0)

    @property
    def talker(self) -> Talker:
        """A server that was just started."""
        return open_talker(self.database, self.settings, lambda question: PAGES + question, pause=lambda _: None)

    @property
    def questions(self) -> Questions:
        return Questions(self.database)

    @property
    def queue(self) -> Queue:
        return Queue(self.database)

    def ask(self, **keys: Any) -> Question:
        """Somebody submits a question."""
        return self.questions.submit(submission(**keys), Asker("ann")).question

    def again(self, question: Question, purpose: Purpose) -> Job:
        """Somebody wants it worked on again."""
        return self.queue.add(question.id, purpose, Asker("ann"))

    def retry(self) -> None:
        """Somebody wants the question of the first command answered again."""
        self.questions.retry(self.commands()[0]["question"], Asker("ann"), fresh=True)

    def taken(self) -> Taken:
        """A worker takes the next job."""
        taken = self.queue.take("worker", ("cpu", "any"))
        assert taken is not None
        return taken

    def answer(self, report: Report) -> None:
        """A worker takes the next job and answers with this report."""
        taken = self.taken()
        run = self._run(report)
        self.queue.finish(taken, run, report.outcome)

    def fail(self, what: str = "the spec asks for nothing") -> None:
        """A worker takes the next job and fails for good."""
        self.queue.fail(self.taken(), fault_values(what, "correct the spec", 10))

    def say_all(self, most: int = 30) -> int:
        """Let servers work until nothing is left to do now; gives how many steps that took."""
        for step in range(most):
            if not self.talker.step():
                return step
        raise AssertionError(f"still at work after {most} steps")

    def pass_time(self, seconds: float = 1e6) -> None:
        """As if so many seconds had passed for what waits: leases run out, pauses end."""
        with self.database.engine.begin() as connection:
            for table, names in ((posts, ("until", "not_before")), (asked, ("until",))):
                connection.execute(update(table).values({name: table.c[name] - seconds for name in names}))

    def posts(self) -> list[Post]:
        """Every post, the oldest first."""
        return Posts(self.database).all()[::-1]

    def age_jobs(self, seconds: float) -> None:
        """As if all jobs had ended so many seconds earlier."""
        with self.database.engine.begin() as connection:
            connection.execute(update(jobs).values(ended=jobs.c.ended - seconds))

    def commands(self) -> list[dict[str, Any]]:
        """The commands that were heard, the oldest first."""
        with self.database.engine.connect() as connection:
            return [dict(row) for row in connection.execute(select(asked).order_by(asked.c.id)).mappings()]

    def _run(self, report: Report) -> str:
        self._runs += 1
        run = f"run-{self._runs}"
        results = Results(self.database)
        results.start_run(run, spec="toy-spec", repro="0", package="toy")
        results.end_run(run, report.outcome, report.model_dump(mode="json", by_alias=True))
        return run


def talk_settings(github: FakeGitHub, *targets: Target, **more: Any) -> TalkSettings:
    """Settings that post; `more` are fields of `GitHubSettings`."""
    usual = GitHubSettings(token=TOKEN, posts=True, repositories=frozenset({REPOSITORY}), secret=SECRET, api=github.url)
    return TalkSettings(replace(usual, **more), targets, may_be_private=True)
