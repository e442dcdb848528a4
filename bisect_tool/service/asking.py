"""Commands on GitHub become questions: what `receiving` has kept is worked off here, one command at a time.

Each step can be done again: a question is submitted once by its content, and a post has a key. So a server that is killed
between two of them only makes the next one repeat what was not noted.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, or_, select, update

from bisect_tool.errors import SpecError
from bisect_tool.service.github import wording
from bisect_tool.service.github.command import Command, CommandMistakes, read_command
from bisect_tool.service.github.drafted import ADVICE, Drafted, draft_question, issue_report
from bisect_tool.service.github.issue import Issue
from bisect_tool.service.posts import SPAN, NewPost, PostKind, key_of
from bisect_tool.service.question import Asker, Question
from bisect_tool.service.questions import Questions
from bisect_tool.service.telling import Teller, asked_on
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import asked

_LOG = logging.getLogger("bisect.talking")
EYES, CONFUSED = "eyes", "confused"


class AskedState(StrEnum):
    """How far a command is."""

    WAITING = "waiting"  # nobody has looked at it
    ACCEPTED = "accepted"  # it led to a question
    SETTLED = "settled"  # and whatever was known of that was told
    REFUSED = "refused"  # it led to a reply, which says why


@dataclass(frozen=True, slots=True)
class Row:
    """A command that was taken; `report` is the issue as it was then, as `receiving` keeps it."""

    id: int
    comment: str
    issue: Issue
    login: str
    said: tuple[str, ...]
    report: dict[str, Any]
    state: AskedState
    question: str | None
    lease: str


@dataclass(frozen=True, slots=True)
class Asking:
    """Works commands off. `seconds_a_day` is how long workers work for one person in a day, None: without a bound."""

    questions: Questions
    teller: Teller
    seconds_a_day: float | None = None

    @property
    def database(self) -> Database:
        """Where all of it lies."""
        return self.questions.database

    def work(self) -> bool:
        """Take one command a step further; False when there is none."""
        row = self._take()
        if row is None:
            return False
        if row.state is AskedState.ACCEPTED:
            self._settle(row)
            return True
        try:
            command = read_command(list(row.said))
        except CommandMistakes as error:
            self._refuse(row, wording.not_understood(error.mistakes))
            return True
        if command.wants_help:
            self._refuse(row, wording.help_text(), EYES)
        elif row.report.get("is_pull_request"):
            self._refuse(row, wording.on_pull_request())
        else:
            self._ask(row, command)
        return True

    def _ask(self, row: Row, command: Command) -> None:
        try:
            drafted = draft_question(issue_report(row.issue.repository, row.report), command.options)
        except SpecError as error:
            self._refuse(row, wording.not_drafted(error, ADVICE))
            return
        except Exception:  # noqa: BLE001 - a text that a rule stumbles over is no reason to be silent, or to try for ever
            _LOG.exception("a defect: the draft of %s", row.issue)
            self._refuse(row, wording.defect())
            return
        if drafted.todo:
            self._refuse(row, wording.incomplete(drafted.todo))
            return
        asker = Asker(f"github:{row.login}", self.seconds_a_day)
        try:
            submitted = self.questions.submit(drafted.submission, asker, source=row.report["comment_address"])
        except SpecError as error:
            self._refuse(row, wording.not_drafted(error, "correct the issue, or say it in the command: `/bisect help`"))
            return
        self._accept(row, submitted.question, drafted)

    def _accept(self, row: Row, question: Question, drafted: Drafted) -> None:
        values = {"state": AskedState.ACCEPTED, "question": question.id, "notes": list(drafted.notes), "lease": None}
        self._note(row, values, [self._reaction(row, EYES, question.id)])

    def _settle(self, row: Row) -> None:
        """Tell what is known already. Work that ends later is told when it does."""
        question = self.questions.get(row.question or "")
        found = self.database.read(
            lambda connection: connection.execute(select(asked).where(asked.c.id == row.id)).mappings().one()
        )
        new = self.teller.posts_on(question, asked_on(dict(found))) if question is not None else []
        self._note(row, {"state": AskedState.SETTLED, "lease": None}, new)

    def _refuse(self, row: Row, body: str, reaction: str = CONFUSED) -> None:
        reply = NewPost(key_of("reply", row.comment), PostKind.REPLY, str(row.issue), "", body)
        values = {"state": AskedState.REFUSED, "error": body, "lease": None}
        self._note(row, values, [self._reaction(row, reaction, ""), reply])

    def _reaction(self, row: Row, content: str, question: str) -> NewPost:
        key = key_of("reaction", row.comment)
        return NewPost(key, PostKind.REACTION, str(row.issue), question, f"{row.comment} {content}")

    def _note(self, row: Row, values: dict[str, Any], new: Sequence[NewPost]) -> None:
        """Write down what became of a command, and put out what is said of it, unless another server has taken it over."""
        change = update(asked).where(asked.c.id == row.id, asked.c.lease == row.lease).values(**values)

        def note(connection: Connection) -> None:
            if connection.execute(change).rowcount == 1:
                self.teller.put(connection, new)

        self.database.write(note)

    def _take(self) -> Row | None:
        lease, now = uuid.uuid4().hex, self.database.now()
        is_free = or_(asked.c.lease.is_(None), asked.c.until < now)
        is_open = asked.c.state.in_((AskedState.WAITING, AskedState.ACCEPTED))
        first = select(asked.c.id).where(is_open, is_free).order_by(asked.c.id).limit(1)

        def ours(connection: Connection) -> Row | None:
            row = connection.execute(select(asked).where(asked.c.lease == lease)).mappings().first()
            return None if row is None else _row(dict(row))

        def take(connection: Connection) -> Row | None:
            found = connection.execute(first).scalar()
            if found is None:
                return None
            taken = update(asked).where(asked.c.id == found, is_free, is_open)
            connection.execute(taken.values(lease=lease, until=now + SPAN))
            return ours(connection)

        return self.database.write(take, was_done=ours)


def _row(row: dict[str, Any]) -> Row:
    return Row(
        id=row["id"],
        comment=row["comment"],
        issue=Issue(row["repository"], row["issue"]),
        login=row["login"],
        said=tuple(json.loads(row["said"])),
        report=dict(row["report"]),
        state=AskedState(row["state"]),
        question=row["question"],
        lease=row["lease"],
    )
