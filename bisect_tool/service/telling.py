"""Deciding what is told: each job that has ended is looked at once, and what follows from it is put into the outbox.

A job counts as told in the transaction that stores its posts, so that nothing is forgotten and nothing told twice, whoever is
killed when. What is said on an issue follows from how the question stands, not from which job was looked at last.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from bisect_tool.errors import BisectError
from bisect_tool.reports.report import Report
from bisect_tool.service.github import wording
from bisect_tool.service.github.issue import Issue, issue_at
from bisect_tool.service.github.posting import EDITED
from bisect_tool.service.github.wording import Circumstances, why_not_told
from bisect_tool.service.happenings import Ended, happened
from bisect_tool.service.job_rows import JOBS, OPEN, QUESTIONS, job_of, question_of
from bisect_tool.service.posts import (
    DAY,
    WAS_EDITED,
    NewPost,
    Post,
    PostKind,
    Posts,
    PostState,
    follower_key,
    key_of,
)
from bisect_tool.service.question import ANSWERING, Job, JobState, Purpose, Question
from bisect_tool.service.talk_settings import TalkSettings
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import asked, jobs, questions, told

_LOG = logging.getLogger("bisect.talking")
AT_ONCE = 20
TOO_OLD = (
    7 * DAY
)  # seconds since the end of a job after which it is no news: a server that starts on an old store says nothing
MARGIN = (
    1000  # jobs that are looked at again: a server's transactions may end in another order than they took their numbers
)
HEARD = ("accepted", "settled")  # states of a command that has led to a question


@dataclass(frozen=True, slots=True)
class AskedOn:
    """A command that led to a question: on which issue, by which comment, and what the draft guessed."""

    issue: Issue
    comment: str
    address: str
    notes: tuple[str, ...]


@dataclass
class Teller:
    """Decides for a database. `page` gives the address of the page of a question."""

    database: Database
    settings: TalkSettings
    page: Callable[[str], str]
    _floor: int = 0  # every job below it was told

    def tell(self) -> int:
        """Decide about some jobs that have ended; gives how many there were."""
        lowest = self.database.read(self._lowest_open)
        found = self.database.read(self._untold)
        if not found:
            self._floor = max(self._floor, lowest - MARGIN)
        for job, is_news in found:
            self._decide(job, self._news_of(job) if is_news else [])
        return len(found)

    def posts_on(self, question: Question, on: AskedOn) -> list[NewPost]:
        """What is to be said to somebody whose question has been worked on already; nothing while it is.

        A comment that was deleted is not written again; but whoever asks again is answered.
        """
        if any(job.state in OPEN and job.purpose in ANSWERING for job in self._jobs(question.id)):
            return []
        return [self._again(post) for post in self._said(question, on)]

    def put(self, connection: Connection, new: Sequence[NewPost]) -> None:
        """Put posts into the outbox, within a transaction; a comment that was left to others is followed by another one."""
        outbox = Posts(self.database)
        for post in new:
            *left, key = outbox.line(connection, post.key)
            before = [outbox.at(connection, one) for one in left]
            is_edited = any(one is not None and (one.error or "").endswith(WAS_EDITED) for one in before)
            body = f"{EDITED}\n\n{post.body}" if is_edited else post.body
            is_dry = post.kind is not PostKind.WEBHOOK and not self.settings.github.posts
            outbox.add(connection, replace(post, key=key, body=body), is_dry=is_dry)

    def _news_of(self, job: Job) -> list[NewPost]:
        try:
            return [*self._posts_of(job)]
        except (BisectError, SQLAlchemyError):
            raise
        except Exception:  # noqa: BLE001 - one report that cannot be told may not silence all that come after it
            _LOG.exception("a defect: job %d is not told", job.id)
            return []

    def _lowest_open(self, connection: Connection) -> int:
        """The first job that has not ended; where all have, the number after the last. It is asked for before `_untold`."""
        is_open = select(func.min(jobs.c.id)).where(jobs.c.state.in_(OPEN))
        last = select(func.coalesce(func.max(jobs.c.id), 0) + 1)
        return int(
            connection.execute(select(func.coalesce(is_open.scalar_subquery(), last.scalar_subquery()))).scalar_one()
        )

    def _untold(self, connection: Connection) -> list[tuple[Job, bool]]:
        is_news = (jobs.c.ended > self.database.now() - TOO_OLD).label("is_news")
        known = select(told.c.job).where(told.c.job == jobs.c.id).exists()
        query = (
            JOBS.add_columns(is_news)
            # Of older ones it is not kept for ever that they were told (`upkeep`).
            .where(jobs.c.id > self._floor, jobs.c.state.not_in(OPEN), jobs.c.ended > self.database.now() - TOO_OLD)
            .where(~known)
            .order_by(jobs.c.id)
            .limit(AT_ONCE)
        )
        return [(job_of(row), bool(row.is_news)) for row in connection.execute(query)]

    def _decide(self, job: Job, new: Sequence[NewPost]) -> None:
        put = (postgresql if self.database.is_server else sqlite).insert(told)
        put = put.values(job=job.id, at=self.database.now()).on_conflict_do_nothing().returning(told.c.job)

        def change(connection: Connection) -> None:
            if connection.execute(put).first() is not None:  # else another server was quicker
                self.put(connection, new)

        self.database.write(change)

    def _posts_of(self, job: Job) -> Iterator[NewPost]:
        question = self._question(job.question)
        if question is None:
            return
        yield from self._calls(job, question)
        if job.purpose is Purpose.VERIFY:
            return
        on = self._asked_on(question.id)
        yield from (post for one in on for post in self._said(question, one, job))
        issue = issue_at(question.issue, self.settings.github.host)
        if issue is not None and issue not in {one.issue for one in on} and self._may_name(question, issue):
            yield from self._answer(question, issue, Circumstances(self.page(question.id)))

    def _may_name(self, question: Question, issue: Issue) -> bool:
        """Whether the issue that a spec names may hear of it."""
        github = self.settings.github
        is_asker = github.askers is None or question.owner in github.askers
        return is_asker and issue.repository in github.repositories

    def _calls(self, job: Job, question: Question) -> Iterator[NewPost]:
        """The webhooks that are called."""
        if not self.settings.targets:
            return
        end = Ended(job, question, self._report(job.run), self._told_before(job), self.page(question.id))
        for kind, body in happened(end):
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            for target in self.settings.targets:
                key = key_of("webhook", target.name, kind, str(job.id), question.id)
                yield NewPost(key, PostKind.WEBHOOK, target.name, question.id, text)

    def _said(self, question: Question, on: AskedOn, job: Job | None = None) -> Iterator[NewPost]:
        """What is said on an issue where somebody asked: the answer, or that there is none."""
        around = Circumstances(self.page(question.id), on.address, on.notes)
        answers = [*self._answer(question, on.issue, around)]
        yield from answers
        if not answers and (job is None or job.purpose in ANSWERING):
            body = self._no_answer(question, around, job)
            key = key_of("reply", on.comment)
            yield NewPost(key, PostKind.REPLY, str(on.issue), question.id, body, key_of(body))

    def _answer(self, question: Question, issue: Issue, around: Circumstances) -> Iterator[NewPost]:
        report = self._report(question.run)
        if report is None or why_not_told(report) is not None:
            return
        key, gist = key_of("answer", question.id, str(issue)), wording.gist_of(report)
        is_changed = self._said_before(key) not in {None, gist}
        body = wording.answer_comment(report, replace(around, is_changed=is_changed))
        yield NewPost(key, PostKind.COMMENT, str(issue), question.id, body, gist)

    def _said_before(self, key: str) -> str | None:
        """The gist of what was said on an issue before."""

        def gist(connection: Connection) -> str | None:
            outbox = Posts(self.database)
            post = outbox.at(connection, outbox.present_key(connection, key))
            return None if post is None or post.sent is None else post.gist

        return self.database.read(gist)

    def _again(self, post: NewPost) -> NewPost:
        """The post for somebody who asks again: a comment that was left, and so is not written again, is followed by one."""

        def present(connection: Connection) -> Post | None:
            outbox = Posts(self.database)
            return outbox.at(connection, outbox.present_key(connection, post.key))

        before = self.database.read(present)
        is_left = before is not None and before.state is PostState.LEFT
        return replace(post, key=follower_key(before.key)) if before is not None and is_left else post

    def _no_answer(self, question: Question, around: Circumstances, job: Job | None) -> str:
        last = job or next(iter(reversed([one for one in self._jobs(question.id) if one.purpose in ANSWERING])), None)
        if last is not None and last.state is JobState.CANCELLED:
            return wording.failed("The search was called off.", "ask again with a new comment", around)
        report = self._report(last.run if last else question.run)
        if report is not None and last is not None and last.state is JobState.DONE:
            return wording.no_answer(report, around)
        error = (last.error if last else question.error) or {}
        what = str(error.get("what") or "no reason is known")
        return wording.failed(what, str(error.get("advice") or ""), around)

    def _asked_on(self, question: str) -> list[AskedOn]:
        """Where a question was asked by a comment, once for each issue."""
        query = select(asked).where(asked.c.question == question, asked.c.state.in_(HEARD)).order_by(asked.c.id)
        rows = self.database.read(lambda connection: connection.execute(query).mappings().all())
        return [asked_on(dict(row)) for row in rows if row["repository"] in self.settings.github.repositories]

    def _question(self, number: str) -> Question | None:
        query = QUESTIONS.where(questions.c.id == number)
        row = self.database.read(lambda connection: connection.execute(query).first())
        return None if row is None else question_of(row)

    def _jobs(self, question: str) -> list[Job]:
        query = JOBS.where(jobs.c.question == question).order_by(jobs.c.id)
        return [job_of(row) for row in self.database.read(lambda connection: connection.execute(query).all())]

    def _told_before(self, job: Job) -> Report | None:
        """The last verified answer of the question when a job ended, without that job: what was told by then."""
        done = [
            one
            for one in self._jobs(job.question)
            if one.state is JobState.DONE and one.purpose is not Purpose.VERIFY and one.run is not None
            if (one.ended or 0.0, one.id) < (job.ended or 0.0, job.id)
        ]
        for one in sorted(done, key=lambda one: (one.ended or 0.0, one.id), reverse=True):
            report = self._report(one.run)
            if report is not None and why_not_told(report) is None:
                return report
        return None

    def _report(self, run: str | None) -> Report | None:
        """The report of a run; None for one that a newer version of this tool wrote."""
        query = select(tables.runs.c.report).where(tables.runs.c.id == run)
        found: Any = self.database.read(lambda connection: connection.execute(query).scalar()) if run else None
        try:
            return None if found is None else Report.model_validate(found)
        except ValidationError:
            return None


def asked_on(row: dict[str, Any]) -> AskedOn:
    """The command in a row of `asked`."""
    issue = Issue(row["repository"], row["issue"])
    return AskedOn(issue, row["comment"], str(row["report"]["comment_address"]), tuple(row["notes"] or ()))
