"""One database, in a file or on a server: opened, brought up to date, asked again while a server is gone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, TypeVar

from pydantic_core import from_json
from sqlalchemy import ColumnElement, Connection, Engine, Float, create_engine, event, literal_column
from sqlalchemy.exc import DBAPIError

from bisect_tool.errors import SettingError, StoreUnreachable
from bisect_tool.store import faults
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.records import JsonText
from bisect_tool.store.schema import bring_up_to_date

PAUSES = (
    0.0,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    30.0,
)  # seconds; a connection that broke is tried again at once, the last repeats
LIMIT = 600.0  # seconds that a run waits for a server that has answered before
LIMIT_AT_FIRST = 60.0  # seconds that a run waits for a server that has not

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is waited for: `limit` in seconds by `clock`, with `sleep` in between; `tell` hears of it."""

    tell: Callable[[str], None] = lambda _line: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    limit: float = LIMIT


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. Every method raises the errors of `faults.explain`."""

    engine: Engine
    address: StoreAddress
    patience: Patience = field(default_factory=Patience)
    _gave_up: Event = field(default_factory=Event)

    @property
    def is_server(self) -> bool:
        """Whether it is on a server."""
        return self.address.path is None

    def read(self, ask: Callable[[Connection], T]) -> T:
        """What `ask` gives, in one transaction."""

        def once(_again: bool) -> T:  # noqa: FBT001  called here only
            with self.engine.connect() as connection:
                return ask(connection)

        return self._persistently(once)

    def write(
        self, change: Callable[[Connection], T], *, was_done: Callable[[Connection], T | None] = lambda _: None
    ) -> T:
        """What `change` gives, once it is on the disk.

        When the answer to the first attempt was lost, nobody knows whether it came through: before another attempt `was_done`
        looks, and gives what `change` would have given.
        """

        def once(again: bool) -> T:  # noqa: FBT001  called here only
            with self.engine.begin() as connection:
                before = was_done(connection) if again else None
                return change(connection) if before is None else before

        return self._persistently(once)

    def now(self) -> ColumnElement[float]:
        """The time by the clock of the database, in seconds since 1970: every host that shares it sees the same one."""
        if self.is_server:
            return literal_column("extract(epoch FROM clock_timestamp())", Float)
        return literal_column("((julianday('now') - 2440587.5) * 86400.0)", Float)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _persistently(self, once: Callable[[bool], T]) -> T:
        # Whoever has waited in vain, or did not want to wait, does not wait again for each thing that is still to be stored.
        patience = replace(self.patience, limit=0.0) if self._gave_up.is_set() else self.patience
        try:
            found = persistently(once, self.address, patience)
        except (StoreUnreachable, KeyboardInterrupt):
            self._gave_up.set()
            raise
        self._gave_up.clear()
        return found


def persistently(once: Callable[[bool], T], address: StoreAddress, patience: Patience) -> T:
    """What `once` gives; it is told whether it was tried before. While a server is gone, again and again.

    Raises the errors of `faults.explain`, of a server that stays away when the patience is used up.
    """
    started, pauses, told = patience.clock(), _pauses(), False
    again = False
    while True:
        try:
            found = once(again)
        except DBAPIError as error:
            pause, waited = next(pauses), patience.clock() - started
            if not faults.is_passing(error, address) or waited + pause > patience.limit:
                raise faults.explain(error, address) from None if address.url.password else error
            if pause:
                told = True
                patience.tell(f"the results database at {address} does not answer; asking again in {pause:.0f} s")
            patience.sleep(pause)
            again = True
        else:
            if told:
                patience.tell(f"the results database at {address} answers again")
            return found


def open_database(
    address: StoreAddress, lock: Callable[[], AbstractContextManager[None]], patience: Patience
) -> Database:
    """Open the database, made and migrated where needed; `lock` keeps processes apart that would make a file at once.

    Raises what `bring_up_to_date` and `faults.explain` raise, and `SettingError` without the driver of a server.
    """
    engine = open_engine(address)
    at_first = replace(patience, limit=min(patience.limit, LIMIT_AT_FIRST))
    try:
        persistently(lambda _again: bring_up_to_date(engine, lock, str(address)), address, at_first)
    except BaseException:
        engine.dispose()
        raise
    return Database(engine, address, patience)


def open_engine(address: StoreAddress) -> Engine:
    """The engine of a database; nothing is connected yet. Raises `SettingError` without the driver of a server."""
    if address.path is not None:
        busy = {"timeout": faults.BUSY}
        engine = create_engine(
            address.url,
            connect_args=busy,
            max_overflow=-1,
            json_serializer=_write_json,
            json_deserializer=_read_json,
        )
        event.listen(engine, "connect", _set_up)
        return engine
    try:
        # A connection that nobody ends on the other side is noticed within a minute.
        return create_engine(
            address.url,
            connect_args={"connect_timeout": 10, "keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3,
                          "tcp_user_timeout": 60_000, "application_name": "bisect"},
            max_overflow=-1,  # as many as there are slots: waiting for a free one is no error of the database
            hide_parameters=True,
            json_serializer=_write_json,
            json_deserializer=_read_json,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        raise SettingError(
            "a store on PostgreSQL needs the package psycopg",
            advice="install it with `pip install 'bisect-tool[postgres]'`",
        ) from error


def _write_json(value: Any) -> str:
    return value if isinstance(value, JsonText) else json.dumps(value)


def _read_json(text: str | bytes) -> Any:
    """What `json.loads` gives, several times faster: most of the time of a look-up goes there."""
    try:
        return from_json(text)
    except ValueError:  # half a surrogate pair, which JSON may escape and pydantic does not take
        return json.loads(text)


def _pauses() -> Iterator[float]:
    yield from PAUSES
    while True:
        yield PAUSES[-1]


def _set_up(connection: Any, _record: object) -> None:
    # WAL lets other processes read while one writes; FULL makes a commit survive a power cut, not only a kill.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
