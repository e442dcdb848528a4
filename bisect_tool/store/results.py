"""The results: every finished trial, durable before anybody decides anything upon it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic_core import from_json
from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.errors import StoreUnreachable
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.database import Database, Patience, open_database
from bisect_tool.store.found import index_report
from bisect_tool.store.gathered import Gathered, in_parts
from bisect_tool.store.leases import Lease, LeaseKeeper, keep
from bisect_tool.store.logs import SharedLogs
from bisect_tool.store.outbox import Outbox
from bisect_tool.store.records import (
    COLUMNS,
    REVIEW,
    JsonText,
    StoredRun,
    StoredTrial,
    Subject,
    Topic,
    now,
    row_of,
    storable,
    trial_of,
)

__all__ = ["Results", "StoredRun", "StoredTrial", "Subject", "Topic", "open_results"]

_TRIALS = select(*(tables.trials.c[name] for name in COLUMNS))


@dataclass(frozen=True, slots=True)
class Results:
    """The open database.

    `leases` keeps hosts apart that share it; None for the file of a cache, which locks in that cache keep apart. `logs` is
    where the logs of trials are copied to; None: they stay in the cache. `outbox` keeps trials that cannot be stored now; None:
    nothing does. `forgotten`: trials up to this number in the database do not count, because the question is asked afresh;
    None: all do.
    """

    database: Database
    leases: LeaseKeeper | None = None
    logs: SharedLogs | None = None
    outbox: Outbox | None = None
    forgotten: int | None = None

    @property
    def address(self) -> StoreAddress:
        """Where it is."""
        return self.database.address

    @property
    def engine(self) -> Engine:
        """The engine of the database."""
        return self.database.engine

    def trials_of(
        self, repro: str, setting: str, device: str, *, case_digest: str | None = None, identity: str | None = None
    ) -> list[StoredTrial]:
        """All trials of a repro, or of one case and build, in the order in which they ended."""
        table = tables.trials
        query = _TRIALS.where(table.c.repro == repro, table.c.setting == setting, table.c.device == device)
        query = query.where(*self._counting())
        if case_digest is not None:
            query = query.where(table.c.case_digest == case_digest)
        if identity is not None:
            query = query.where(table.c.identity == identity)
        return self.database.read(
            lambda connection: [trial_of(row) for row in connection.execute(query.order_by(table.c.id))]
        )

    def gather(self, topics: Iterable[Topic], host: str = "") -> Gathered:
        """What is known about many questions, in few queries; `host` is as in `unusable`.

        All of it is in memory: about 3 kB for each trial. Whoever has thousands of questions asks for some hundred at a time.
        """
        wanted = tuple(dict.fromkeys(topics))
        repros: dict[tuple[str, str], list[str]] = defaultdict(list)
        for topic in wanted:
            repros[topic.setting, topic.device].append(topic.repro)
        trials: dict[Topic, list[StoredTrial]] = {topic: [] for topic in wanted}
        for (setting, device), of_these in repros.items():
            for part in in_parts(of_these):
                for trial in self._trials_of_repros(part, setting, device):
                    trials[Topic(trial.repro, setting, device)].append(trial)
        return Gathered(
            trials,
            {where: self.unusable(*where, host) for where in repros},
            {where: self.healths(*where) for where in repros},
        )

    def add_trial(self, trial: StoredTrial, lease: Lease | None = None) -> None:
        """Store a trial; on the disk when this returns. One that a server could not be told lies in the outbox.

        With `lease` only as long as that is held: raises `LeaseLost` when another host has taken the work over.
        """
        row = row_of(trial)

        def add(connection: Connection) -> bool:
            if lease is not None:
                keep(connection, lease, self.database.now())
            connection.execute(insert(tables.trials), row)
            return True

        def is_there(connection: Connection) -> bool | None:
            columns = ("repro", "setting", "device", "case_digest", "identity", "folder")
            same = (tables.trials.c[name] == row[name] for name in columns)
            return connection.execute(select(tables.trials.c.id).where(*same)).first() is not None or None

        try:
            self.database.write(add, was_done=is_there)
        except (StoreUnreachable, KeyboardInterrupt):
            if self.outbox is not None:
                self.outbox.keep(trial, self.address)
            raise

    def send_kept(self) -> None:
        """Store what lies in the outbox; but not what another host has found out in the meantime."""
        if self.outbox is None:
            return
        for path, trial in self.outbox.kept(self.address):
            subject = trial.subject
            about = {"case_digest": trial.case_digest, "identity": subject.identity}
            known = self.trials_of(trial.repro, subject.setting, subject.device, **about)
            is_known = any(one.folder == trial.folder or not self.outbox.is_own(one.folder) for one in known)
            if not is_known:
                self.add_trial(trial)
            path.unlink(missing_ok=True)

    def keep_log(self, folder: Path) -> str | None:
        """Copy what a trial left in `folder` to where logs are shared; gives the address of its log, None without one."""
        return None if self.logs is None else self.logs.keep(folder)

    def unusable(self, setting: str, device: str, host: str = "") -> dict[str, str]:
        """The builds that cannot be used, by identity, with the reason.

        What is true everywhere, and what hosts of the kind `host` found (`bisect_tool.store.hosts`).
        """
        table = tables.unusable
        query = (
            select(table.c.identity, table.c.reason)
            .where(table.c.setting == setting, table.c.device == device, table.c.host.in_({"", host}))
            .order_by(table.c.id)
        )
        return self.database.read(lambda connection: {row.identity: row.reason for row in connection.execute(query)})

    def add_unusable(self, subject: Subject, package: str, version: str, reason: str, host: str = "") -> None:
        """Remember that a build cannot be used; with `host` only on hosts of that kind."""
        row = {"package": package, "version": version, "reason": storable(reason), "found": now()}
        self._put(tables.unusable, ({**_key(subject), "host": host}, row))

    def forget_unusable(self, setting: str, device: str, identities: Iterable[str]) -> None:
        """Forget that these builds cannot be used, so that they are tried again."""
        table = tables.unusable
        for part in in_parts(identities):
            gone = delete(table).where(table.c.setting == setting, table.c.device == device, table.c.identity.in_(part))
            self.database.write(lambda connection, gone=gone: connection.execute(gone))  # type: ignore[misc]

    def healths(self, setting: str, device: str) -> dict[str, dict[str, Any]]:
        """What the proven environments held, by the identity of the build."""
        table = tables.healths
        query = select(table.c.identity, table.c.health).where(table.c.setting == setting, table.c.device == device)
        return self.database.read(
            lambda connection: {row.identity: dict(row.health) for row in connection.execute(query)}
        )

    def add_health(self, subject: Subject, health: Mapping[str, Any]) -> None:
        """Remember what an environment holds."""
        self._put(tables.healths, (_key(subject), {"health": dict(health), "found": now()}))

    def start_run(self, run: str, *, spec: str, repro: str, package: str) -> None:
        """Note that a run has begun."""
        self.start_runs({run: {"spec": spec, "repro": repro, "package": package}})

    def start_runs(self, runs: Mapping[str, Mapping[str, str]]) -> None:
        """The same for many runs at once: `spec`, `repro` and `package` of each, by its id."""
        started = now()
        self._put(tables.runs, *[({"id": run}, {**about, "started": started}) for run, about in runs.items()])

    def end_run(self, run: str, outcome: str, report: Mapping[str, Any] | JsonText) -> None:
        """Keep the report of a run, and what its failures are found by."""
        at, is_text = now(), isinstance(report, JsonText)
        values = from_json(report) if isinstance(report, JsonText) else dict(report)
        ended = update(tables.runs).where(tables.runs.c.id == run)
        ended = ended.values(outcome=outcome, report=report if is_text else values, ended=at)

        def keep_report(connection: Connection) -> None:
            connection.execute(ended)
            if outcome != REVIEW:
                index_report(connection, run, values, at)

        self.database.write(keep_report)

    def add_decision(self, run: str, number: int, line: str) -> None:
        """Keep a line of the record of a run."""
        self.add_to_decisions({run: line}, number)

    def add_to_decisions(self, lines: Mapping[str, str], number: int) -> None:
        """The same for many runs at once."""
        self._put(
            tables.decisions,
            *[({"run": run, "number": number}, {"line": storable(line)}) for run, line in lines.items()],
        )

    def decisions(self, run: str) -> list[str]:
        """The record of a run, line by line; empty when it has none."""
        table = tables.decisions
        query = select(table.c.line).where(table.c.run == run).order_by(table.c.number)
        return self.database.read(lambda connection: [row.line for row in connection.execute(query)])

    def runs(self, *, most: int | None = None, repro: str | None = None) -> list[StoredRun]:
        """Runs, newest first: all of them, the `most` newest, those of a repro."""
        table = tables.runs
        query = select(table.c.id, table.c.spec, table.c.package, table.c.started, table.c.outcome)
        if repro is not None:
            query = query.where(table.c.repro == repro)
        query = query.order_by(table.c.started.desc(), table.c.id).limit(most)
        return self.database.read(lambda connection: [StoredRun(*row) for row in connection.execute(query)])

    def report_of(self, run: str) -> dict[str, Any] | None:
        """The report of a run as it was kept; None when the run never came to one."""
        query = select(tables.runs.c.report).where(tables.runs.c.id == run)
        found = self.database.read(lambda connection: connection.execute(query).scalar_one_or_none())
        return None if found is None else dict(found)

    def close(self) -> None:
        """Let go of everything that is held, and close every connection."""
        if self.leases is not None:
            self.leases.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _trials_of_repros(self, repros: list[str], setting: str, device: str) -> list[StoredTrial]:
        table = tables.trials
        query = _TRIALS.where(table.c.repro.in_(repros), table.c.setting == setting, table.c.device == device).order_by(
            table.c.id
        )
        query = query.where(*self._counting())
        return self.database.read(lambda connection: [trial_of(row) for row in connection.execute(query)])

    def _counting(self) -> tuple[ColumnElement[bool], ...]:
        return () if self.forgotten is None else (tables.trials.c.id > self.forgotten,)

    def _put(self, table: Table, *rows: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
        """Make the row of each key, or write it anew: also when another host does the same at the same moment."""
        if not rows:
            return
        key, row = rows[0]
        dialect = postgresql if self.database.is_server else sqlite
        put = dialect.insert(table)
        put = put.on_conflict_do_update(index_elements=list(key), set_={name: put.excluded[name] for name in row})
        self.database.write(lambda connection: connection.execute(put, [{**own, **key} for key, own in rows]))


def _key(subject: Subject) -> dict[str, str]:
    return {"identity": subject.identity, "setting": subject.setting, "device": subject.device}


def open_results(
    place: Path | StoreAddress,
    lock: Callable[[], AbstractContextManager[None]],
    *,
    patience: Patience | None = None,
    span: float | None = None,
    logs: SharedLogs | None = None,
    outbox: Outbox | None = None,
) -> Results:
    """Open the database at `place`, made and migrated where needed; a path is that of the file of a cache.

    `span` is how many seconds after its last sign of life the work of a host is taken over; see `leases`, `logs`,
    `outbox`.
    Raises `CacheBroken`, `CacheNotWritable`, `CacheTooNew`, `DiskFull`, `StoreUnreachable`; `SettingError` without the driver.
    """
    address = file_address(place) if isinstance(place, Path) else place
    database = open_database(address, lock, patience or Patience())
    results = Results(database, None if address.is_own else LeaseKeeper(database, span), logs, outbox)
    results.send_kept()
    return results
