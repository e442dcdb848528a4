"""The results: every finished trial, durable before anybody decides anything upon it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, delete, event, insert, select, update
from sqlalchemy.exc import DatabaseError, OperationalError

from bisect_tool.errors import BisectError, CacheBroken, CacheNotWritable, DiskFull
from bisect_tool.store import tables
from bisect_tool.store.schema import bring_up_to_date

NO_ROOM = 1_000_000  # bytes; with less than this a failed write is blamed on the disk
BUSY = 60.0  # seconds that one process waits for another one's write


@dataclass(frozen=True, slots=True)
class Subject:
    """What a result is about, besides the repro: content of the wheel, setting, kind of device (see `tables`)."""

    identity: str
    setting: str
    device: str


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """One trial as it is stored. `observation` are plain values; `folder` is relative to the cache."""

    subject: Subject
    repro: str
    case_digest: str
    case_name: str
    package: str
    version: str
    observation: Mapping[str, Any]
    folder: str
    command: str
    duration: float


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a spec; `started` in UTC; `outcome` is None when it never came to a report."""

    id: str
    spec: str
    package: str
    started: str
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Results:
    """The open database."""

    engine: Engine
    path: Path

    def trials_of(self, repro: str, setting: str, device: str) -> list[StoredTrial]:
        """All trials of a repro, in the order in which they ended."""
        table = tables.trials
        query = (
            select(table)
            .where(table.c.repro == repro, table.c.setting == setting, table.c.device == device)
            .order_by(table.c.id)
        )
        with self._explained(), self.engine.connect() as connection:
            return [_stored(row._mapping) for row in connection.execute(query)]  # noqa: SLF001  SQLAlchemy's public name

    def add_trial(self, trial: StoredTrial) -> None:
        """Store a trial; on the disk when this returns."""
        row = {
            "repro": trial.repro,
            "case_digest": trial.case_digest,
            "identity": trial.subject.identity,
            "setting": trial.subject.setting,
            "device": trial.subject.device,
            "case_name": trial.case_name,
            "package": trial.package,
            "version": trial.version,
            "observation": dict(trial.observation),
            "folder": trial.folder,
            "command": trial.command,
            "finished": now(),
            "duration": trial.duration,
        }
        with self._explained(), self.engine.begin() as connection:
            connection.execute(insert(tables.trials), {name: _storable(value) for name, value in row.items()})

    def unusable(self, setting: str, device: str) -> dict[str, str]:
        """The builds that cannot be used, by identity, with the reason."""
        table = tables.unusable
        query = select(table.c.identity, table.c.reason).where(table.c.setting == setting, table.c.device == device)
        with self._explained(), self.engine.connect() as connection:
            return {row.identity: row.reason for row in connection.execute(query)}

    def add_unusable(self, subject: Subject, package: str, version: str, reason: str) -> None:
        """Remember that a build cannot be used."""
        row = {"package": package, "version": version, "reason": reason, "found": now()}
        self._replace(tables.unusable, subject, row)

    def forget_unusable(self, setting: str, device: str) -> None:
        """Forget which builds cannot be used, so that they are tried again."""
        table = tables.unusable
        with self._explained(), self.engine.begin() as connection:
            connection.execute(delete(table).where(table.c.setting == setting, table.c.device == device))

    def healths(self, setting: str, device: str) -> dict[str, dict[str, Any]]:
        """What the proven environments held, by the identity of the build."""
        table = tables.healths
        query = select(table.c.identity, table.c.health).where(table.c.setting == setting, table.c.device == device)
        with self._explained(), self.engine.connect() as connection:
            return {row.identity: dict(row.health) for row in connection.execute(query)}

    def add_health(self, subject: Subject, health: Mapping[str, Any]) -> None:
        """Remember what an environment holds."""
        self._replace(tables.healths, subject, {"health": dict(health), "found": now()})

    def start_run(self, run: str, *, spec: str, repro: str, package: str) -> None:
        """Note that a run has begun."""
        row = {"id": run, "spec": spec, "repro": repro, "package": package, "started": now()}
        with self._explained(), self.engine.begin() as connection:
            connection.execute(insert(tables.runs), row)

    def end_run(self, run: str, outcome: str, report: Mapping[str, Any]) -> None:
        """Keep the report of a run."""
        table = tables.runs
        with self._explained(), self.engine.begin() as connection:
            connection.execute(
                update(table).where(table.c.id == run).values(outcome=outcome, report=dict(report), ended=now())
            )

    def add_decision(self, run: str, number: int, line: str) -> None:
        """Keep a line of the record of a run."""
        with self._explained(), self.engine.begin() as connection:
            connection.execute(insert(tables.decisions), {"run": run, "number": number, "line": _storable(line)})

    def decisions(self, run: str) -> list[str]:
        """The record of a run, line by line; empty when it has none."""
        table = tables.decisions
        query = select(table.c.line).where(table.c.run == run).order_by(table.c.number)
        with self._explained(), self.engine.connect() as connection:
            return [row.line for row in connection.execute(query)]

    def runs(self) -> list[StoredRun]:
        """All runs, newest first."""
        table = tables.runs
        query = select(table).order_by(table.c.started.desc(), table.c.id)
        with self._explained(), self.engine.connect() as connection:
            return [
                StoredRun(row.id, row.spec, row.package, row.started, row.outcome) for row in connection.execute(query)
            ]

    def report_of(self, run: str) -> dict[str, Any] | None:
        """The report of a run as it was kept; None when the run never came to one."""
        table = tables.runs
        with self._explained(), self.engine.connect() as connection:
            found = connection.execute(select(table.c.report).where(table.c.id == run)).scalar_one_or_none()
        return None if found is None else dict(found)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _replace(self, table: Any, subject: Subject, row: Mapping[str, Any]) -> None:
        key = {"identity": subject.identity, "setting": subject.setting, "device": subject.device}
        with self._explained(), self.engine.begin() as connection:
            connection.execute(delete(table).where(*(table.c[name] == value for name, value in key.items())))
            connection.execute(insert(table), {**key, **row})

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise explain(error, self.path) from error


def open_results(path: Path, lock: Callable[[], AbstractContextManager[None]]) -> Results:
    """Open the database at `path`, made and migrated where needed.

    Raises `CacheBroken`, `CacheNotWritable`, `CacheTooNew`, `DiskFull`.
    """
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY})
    event.listen(engine, "connect", _set_up)
    try:
        bring_up_to_date(engine, lock)
    except DatabaseError as error:
        engine.dispose()
        raise explain(error, path) from error
    except BaseException:
        engine.dispose()
        raise
    return Results(engine, path)


def explain(error: DatabaseError, path: Path) -> BisectError:
    """A database error in words of this tool."""
    text = str(error.orig)
    # SQLite reports a write-ahead log that cannot grow as a mere "disk I/O error".
    if "full" in text or ("I/O error" in text and shutil.disk_usage(path.parent).free < NO_ROOM):
        return DiskFull(
            "no space is left for the results database",
            where=str(path),
            advice="make room with `bisect cache prune`, then run the same command again",
        )
    if "readonly" in text or "unable to open" in text:
        return CacheNotWritable(
            f"the results database cannot be written: {text}",
            where=str(path),
            advice="name another folder with --cache",
        )
    if isinstance(error, OperationalError) and "locked" in text:
        return CacheNotWritable(
            f"another process has held the results database for more than {BUSY:.0f} s",
            where=str(path),
            advice="wait for it, or name another folder with --cache",
        )
    return CacheBroken(
        f"the results database cannot be read: {text}",
        where=str(path),
        advice="move the file away; its results are lost, but environments and logs stay",
    )


def now() -> str:
    """The time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _storable(value: Any) -> Any:
    """Names of files need not be text, and SQLite takes nothing else; what is no character shows as its escape."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _set_up(connection: Any, _record: object) -> None:
    # WAL lets other processes read while one writes; FULL makes a commit survive a power cut, not only a kill.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _stored(row: Mapping[Any, Any]) -> StoredTrial:
    return StoredTrial(
        subject=Subject(row["identity"], row["setting"], row["device"]),
        repro=row["repro"],
        case_digest=row["case_digest"],
        case_name=row["case_name"],
        package=row["package"],
        version=row["version"],
        observation=row["observation"],
        folder=row["folder"],
        command=row["command"],
        duration=row["duration"],
    )
