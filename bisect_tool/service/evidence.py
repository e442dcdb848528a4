"""The evidence for an answer: the trials of a case on a build, with command, environment, signature and log."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Connection, Row, and_, select

from bisect_tool.runs.judging import from_values, verdict_of
from bisect_tool.service.question import Question
from bisect_tool.spec.document import parse_document, plain
from bisect_tool.spec.model import NamedFailure, Spec
from bisect_tool.store.kept_logs import KeptLogs
from bisect_tool.store.logs import LOG
from bisect_tool.store.results import Results
from bisect_tool.store.tables import healths, trials
from bisect_tool.trials.failure import CannotJudge, Failed, FoundFailure, MachineAtFault, Passed

MOST_LOG = 8_000_000  # bytes of a log; trials keep less
MOST_TRIALS = 200


@dataclass(frozen=True, slots=True)
class FailureShown:
    """A failure that a trial showed: `id` as in reports; `text` is what it printed of it."""

    id: str
    name: str | None
    kind: str
    title: str
    types: tuple[str, ...]
    message: str
    where: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One stored trial. `state` is `pass`, `failing`, `untestable` (for `reason`) or `machine`: its own machine spoiled it.

    `environment` is what the environment held when it was proven, None where nobody knows. `log_here`: this host has the log,
    or reads it where it is kept; else `log` says where it is shared, None where only the host of the trial has it. `seconds` is
    how long it took, `finished` in UTC.
    """

    number: int
    case: str
    build: str
    device: str
    state: str
    reason: str | None
    failures: tuple[FailureShown, ...]
    finished: str
    seconds: float
    command: str
    exit_status: int | None
    signal: int | None
    timed_out: bool
    peak_memory: int | None
    output: str
    environment: Mapping[str, Any] | None
    log: str | None
    log_here: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """The stored trials; `cache` is the root of this host's cache, where the logs of its own trials lie.

    `shared` is the folder for the logs of all hosts, where there is one that is mounted here, `kept` the address where they
    are kept instead.
    """

    results: Results
    cache: Path
    shared: Path | None = None
    kept: KeptLogs | None = None

    def trials(self, question: Question, case: str, build: str, most: int = MOST_TRIALS) -> list[Trial]:
        """The trials of a case on a build, in the order in which they ended."""
        table = trials
        rows = self._rows(
            table.c.repro == question.repro, table.c.case_name == case, table.c.version == build, most=most
        )
        named = _named(question)
        return [self._shown(row, named) for row in rows]

    def trial(self, question: Question, number: int) -> Trial | None:
        """One trial; None when this question has none of this number."""
        rows = self._rows(trials.c.repro == question.repro, trials.c.id == number, most=1)
        return self._shown(rows[0], _named(question)) if rows else None

    def log(self, question: Question, number: int) -> bytes | None:
        """What the trial printed; None when this host does not have it. Raises `LogUnread` for one that is kept elsewhere."""
        rows = self._rows(trials.c.repro == question.repro, trials.c.id == number, most=1)
        return self._read(rows[0].folder, rows[0].log) if rows else None

    def _rows(self, *conditions: ColumnElement[bool], most: int) -> Sequence[Row[Any]]:
        same = and_(
            healths.c.identity == trials.c.identity,
            healths.c.setting == trials.c.setting,
            healths.c.device == trials.c.device,
        )
        query = select(trials, healths.c.health).join_from(trials, healths, same, isouter=True).where(*conditions)
        query = query.order_by(trials.c.id).limit(most)

        def ask(connection: Connection) -> Sequence[Row[Any]]:
            return connection.execute(query).all()

        return self.results.database.read(ask)

    def _shown(self, row: Row[Any], named: Sequence[NamedFailure]) -> Trial:
        observation = from_values(row.observation)
        state, reason, failures = _meaning(row.observation, named)
        return Trial(
            number=row.id,
            case=row.case_name,
            build=row.version,
            device=row.device,
            state=state,
            reason=reason,
            failures=failures,
            finished=row.finished,
            seconds=row.duration,
            command=row.command,
            exit_status=observation.exit_status,
            signal=observation.signal,
            timed_out=observation.timed_out,
            peak_memory=observation.peak_memory,
            output=observation.output,
            environment=None if row.health is None else dict(row.health),
            log=row.log,
            log_here=self._is_kept(row.folder, row.log) or any(path.is_file() for _, path in self._places(row.folder)),
        )

    def _places(self, folder: str) -> Iterator[tuple[Path, Path]]:
        """Where the log of a trial may lie on this host: the root that it may not leave, and its path."""
        yield self.cache, self.cache / folder / LOG
        if self.shared is not None:
            yield self.shared, self.shared / PurePosixPath(folder).name / LOG

    def _is_kept(self, folder: str, log: str | None) -> bool:
        # Whether it can be read shows when somebody wants to: asking a place far away for each of many trials takes long.
        return self.kept is not None and self.kept.has(folder, log)

    def _read(self, folder: str, log: str | None) -> bytes | None:
        found = (_content(root, path) for root, path in self._places(folder))
        here = next((content for content in found if content is not None), None)
        if here is None and self.kept is not None and self.kept.has(folder, log):
            return self.kept.read(folder, MOST_LOG)
        return here


def _content(root: Path, path: Path) -> bytes | None:
    """A log. A trial could write to its folder: nothing leads out of the root, and no link is followed."""
    if not path.parent.resolve().is_relative_to(root.resolve()):
        return None
    try:
        # Without O_NONBLOCK a FIFO would be waited for.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(MOST_LOG) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def _meaning(
    observation: Mapping[str, Any], named: Sequence[NamedFailure]
) -> tuple[str, str | None, tuple[FailureShown, ...]]:
    """State, reason and failures, judged anew as a run would do."""
    verdict = verdict_of(from_values(observation), named)
    match verdict:
        case Passed():
            return "pass", None, ()
        case Failed(failures):
            return "failing", None, tuple(_failure(one) for one in failures)
        case CannotJudge(reason):
            return "untestable", reason, ()
        case MachineAtFault(reason):
            return "machine", reason, ()
        case _:
            assert_never(verdict)


def _failure(found: FoundFailure) -> FailureShown:
    signature = found.signature
    return FailureShown(
        id=found.id,
        name=found.name,
        kind=str(signature.kind),
        title=signature.title,
        types=signature.types,
        message=signature.message,
        where=signature.where,
        text=found.text,
    )


def _named(question: Question) -> tuple[NamedFailure, ...]:
    return Spec.model_validate(plain(parse_document(question.spec.encode()).root)).failures
