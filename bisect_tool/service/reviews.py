"""Reviews: a sample of old answers is run again, on another day or by another host, and compared (docs/watches.md).

Which answers are in the sample of a day follows from the day and the ids of the questions alone: whoever picks, and however
often, picks the same. A difference has the question answered again from everything that is known, with the new trials.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from bisect_tool.reports.report import Report
from bisect_tool.service.accuracy import ANSWERS
from bisect_tool.service.answer_news import outer
from bisect_tool.service.answers import report_at
from bisect_tool.service.asking_again import narrow_of
from bisect_tool.service.event_log import add_events
from bisect_tool.service.job_rows import OPEN, Work, add_job, hold, open_jobs
from bisect_tool.service.question import Asker, Job, JobState, Purpose, QuestionState
from bisect_tool.service.recheck import Recheck, Verdict, builds_of, claims_of, recheck
from bisect_tool.service.streams import CPU
from bisect_tool.service.watches import DAY
from bisect_tool.service.workers import lanes_alive
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import answers, jobs, questions, reviews, workers

REVIEWER = Asker("reviews")
PRIORITY = 0
DOUBTED = frozenset({Verdict.DIFFERS, Verdict.REPLACED})


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """Which share of the answers is reviewed in a day, and at most how many; when nobody else waits, one at least.

    With a `share` of 0 nothing is. `rests`: seconds until the same answer may be reviewed again.
    """

    share: float = 0.02
    most: int = 50
    rests: float = 30 * DAY


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that may be reviewed: `age` in seconds, the lane of its trials, and the host of the worker that answered."""

    question: str
    run: str
    age: float
    lane: str
    host: str | None


@dataclass(frozen=True, slots=True)
class Review:
    """A review that has come to its end."""

    question: str
    of_run: str
    run: str | None
    found: Recheck


def drawn(day: str, candidates: Iterable[Candidate]) -> list[tuple[float, Candidate]]:
    """All of them with their number of the day (ISO 8601), 0 to 1, the least first; the same whoever asks. Pure."""
    return sorted(((_number(day, one.question), one) for one in candidates), key=lambda pair: pair[0])


def may_review(one: Candidate, hosts: frozenset[str]) -> bool:
    """Whether an answer would be reviewed on another day, or by another host of those that live. Pure."""
    return one.age >= DAY or (one.host is not None and bool(hosts - {one.host}))


@dataclass(frozen=True, slots=True)
class Reviews:
    """The reviews of a database. Every method raises what `Database` raises."""

    database: Database
    rules: ReviewRules = ReviewRules()

    def pick(self) -> list[str]:
        """Begin the reviews of today that are not begun yet; gives the questions."""

        def look(connection: Connection) -> tuple[str, list[Candidate], int, bool]:
            now = float(connection.execute(select(self.database.now())).scalar_one())
            day = datetime.fromtimestamp(now, UTC).date()
            begun = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
            done = connection.execute(select(func.count()).where(reviews.c.picked >= begun)).scalar_one()
            is_idle = connection.execute(select(func.count()).where(jobs.c.state.in_(OPEN))).scalar_one() == 0
            return day.isoformat(), self._candidates(connection, now), done, is_idle

        day, candidates, done, is_idle = self.database.read(look)
        begun: list[str] = []
        for number, one in drawn(day, candidates):
            is_wanted = number < self.rules.share or (is_idle and self.rules.share > 0 and done + len(begun) == 0)
            if is_wanted and done + len(begun) < self.rules.most and self._begin(one):
                begun.append(one.question)
        return begun

    def conclude(self) -> list[Review]:
        """Compare what the reviews have found that have ended; what differs is answered again."""
        ended = (
            select(reviews.c.id, reviews.c.question, reviews.c.of_run, reviews.c.job)
            .add_columns(jobs.c.state, jobs.c.run, jobs.c.lane, jobs.c.forgotten)
            .join_from(reviews, jobs, jobs.c.id == reviews.c.job)
            .where(reviews.c.verdict.is_(None), jobs.c.state.not_in(OPEN))
            .order_by(reviews.c.id)
        )
        rows = self.database.read(lambda connection: connection.execute(ended).all())
        return [review for row in rows if (review := self._conclude(row)) is not None]

    def doubted(self, question: str) -> Review | None:
        """The review that came to something else than the present answer of a question; None without one."""
        query = (
            select(reviews)
            .join(questions, (questions.c.id == reviews.c.question) & (questions.c.run == reviews.c.of_run))
            .where(reviews.c.question == question, reviews.c.verdict.in_([one.value for one in DOUBTED]))
            .order_by(reviews.c.id.desc())
            .limit(1)
        )
        row = self.database.read(lambda connection: connection.execute(query).first())
        return None if row is None else Review(row.question, row.of_run, row.run, Recheck.of_values(row.detail))

    def _candidates(self, connection: Connection, now: float) -> list[Candidate]:
        """Answers that may be reviewed now."""
        last = select(func.max(reviews.c.picked)).where(reviews.c.of_run == answers.c.run).scalar_subquery()
        query = (
            select(
                answers.c.question, answers.c.run, answers.c.at, answers.c.device, workers.c.host, last.label("last")
            )
            .join_from(answers, questions, (questions.c.run == answers.c.run) & (questions.c.id == answers.c.question))
            .join(jobs, jobs.c.id == answers.c.job)
            .outerjoin(workers, workers.c.id == jobs.c.worker)
            .where(questions.c.state == QuestionState.ANSWERED, questions.c.outcome.in_(ANSWERS))
        )
        alive = lanes_alive(self.database, connection)
        hosts = _hosts(connection, self.database)
        found = [
            Candidate(row.question, row.run, now - row.at, _lane(row.device), row.host)
            for row in connection.execute(query)
            if row.last is None or row.last < now - self.rules.rests
        ]
        return [one for one in found if one.lane in alive and may_review(one, hosts)]

    def _begin(self, one: Candidate) -> bool:
        """Begin one review; False where somebody works on the question, or its answer cannot be run again."""

        def change(connection: Connection) -> bool:
            hold(connection, one.question)
            run = connection.execute(select(questions.c.run).where(questions.c.id == one.question)).scalar()
            report = report_at(connection, one.run)
            is_busy = bool(open_jobs(connection, one.question))
            if run != one.run or is_busy or report is None or narrow_of(report) is None:
                return False
            avoid = one.host if one.age < DAY else None
            work = Work(Purpose.VERIFY, REVIEWER, PRIORITY, one.lane, avoid)
            job = add_job(self.database, connection, one.question, work)
            row = {"question": one.question, "job": job.id, "of_run": one.run}
            connection.execute(insert(reviews).values(picked=self.database.now(), **row))
            return True

        return self.database.write(change)

    def _conclude(self, row: Row[Any]) -> Review | None:
        def change(connection: Connection) -> Review | None:
            hold(connection, row.question)
            old = report_at(connection, row.of_run)
            new = report_at(connection, row.run) if row.state == JobState.DONE and row.run else None
            # Where another version of this tool wrote the old one, so that it cannot be read, nothing is said about it.
            nothing = Recheck(Verdict.NO_ANSWER, ())
            found = recheck_of(connection, old, new, row.forgotten or 0) if old is not None else nothing
            values = {
                "verdict": found.verdict,
                "detail": found.as_values(),
                "run": row.run,
                "ended": self.database.now(),
            }
            unread = update(reviews).where(reviews.c.id == row.id, reviews.c.verdict.is_(None))
            if connection.execute(unread.values(values)).rowcount != 1:
                return None
            if found.verdict in DOUBTED:
                self._ask_again(connection, row)
            body = {"run": row.run, "of_run": row.of_run, "verdict": found.verdict, **found.as_values()}
            add_events(self.database, connection, row.question, row.job, [("answer_reviewed", body)])
            return Review(row.question, row.of_run, row.run, found)

        return self.database.write(change)

    def _ask_again(self, connection: Connection, row: Row[Any]) -> None:
        """Have the question answered again from all that is known, the new trials too, if its answer is still the same."""
        query = select(questions.c.run, questions.c.owner).where(questions.c.id == row.question)
        question = connection.execute(query).one()
        if question.run == row.of_run:
            came_by = connection.execute(select(jobs.c.purpose).where(jobs.c.run == row.of_run).limit(1)).scalar()
            # An answer that came by a watch went past the `to` of the spec; one that stops there would take it back.
            purpose = Purpose.WATCH if came_by == Purpose.WATCH else Purpose.ANSWER
            work = Work(purpose, REVIEWER, PRIORITY, row.lane)
            add_job(self.database, connection, row.question, work)


def narrow_for(database: Database, job: Job) -> dict[str, Any] | None:
    """What a job that reviews is to run: the values of a `Narrow`; None for other jobs."""
    if job.purpose is not Purpose.VERIFY:
        return None
    query = select(reviews.c.of_run).where(reviews.c.job == job.id)

    def read(connection: Connection) -> dict[str, Any] | None:
        run = connection.execute(query).scalar_one_or_none()
        report = report_at(connection, run) if run is not None else None
        narrow = narrow_of(report) if report is not None else None
        return narrow.as_values() if narrow is not None else None

    return database.read(read)


def recheck_of(connection: Connection, old: Report, new: Report | None, after: int) -> Recheck:
    """`recheck`, with the builds whose trials were of another file up to the trial `after` than since."""
    whole = outer(old)
    labels = builds_of(claims_of(whole))
    return recheck(whole, new, _replaced(connection, whole.spec.digest, labels, after))


def _replaced(connection: Connection, repro: str, labels: Sequence[str], after: int) -> tuple[str, ...]:
    """The builds whose trials before and since share no file, in one setting."""
    trial = tables.trials.c
    query = select(trial.version, trial.setting, trial.device, trial.identity, (trial.id > after).label("is_new"))
    rows = connection.execute(query.where(trial.repro == repro).distinct()).all()
    found = []
    for label in labels:
        version = label.partition(" ")[0]
        of_build = [row for row in rows if row.version == version]
        settings = {(row.setting, row.device) for row in of_build if row.is_new}
        for where in settings:
            here = [row for row in of_build if (row.setting, row.device) == where]
            before = {row.identity for row in here if not row.is_new}
            since = {row.identity for row in here if row.is_new}
            if before and not before & since:
                found.append(label)
    return tuple(dict.fromkeys(found))


def _hosts(connection: Connection, database: Database) -> frozenset[str]:
    lives = workers.c.beat + workers.c.span > database.now()
    return frozenset(connection.execute(select(workers.c.host).where(lives)).scalars())


def _lane(device: str) -> str:
    return CPU if device == CPU else f"cuda:{device}"


def _number(day: str, question: str) -> float:
    """A number from 0 to 1 that looks drawn, for a question on a day."""
    return int.from_bytes(hashlib.sha256(f"{day} {question}".encode()).digest()[:8]) / 2**64
