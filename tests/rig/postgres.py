"""A real PostgreSQL server for tests, on a socket in a folder of its own: started, stopped, started again."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine

from bisect_tool.store.address import StoreAddress
from bisect_tool.store.schema import bring_up_to_date

PLACES = "/usr/lib/postgresql"  # where Debian puts each version
REQUIRED = "BISECT_TESTS_POSTGRES"  # when it says `required`, a missing server fails tests instead of skipping them
_USERS = ("postgres", "nobody")  # the server refuses to run as root
# Nothing here has to survive a power cut.
_OPTIONS = ("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=40", "shared_buffers=32MB")
TEMPLATE = "template_of_tests"


def programs() -> Path | None:
    """The folder of the newest server here; None without one."""
    found = [*Path(PLACES).glob("*/bin/postgres")]
    newest = max(found, key=lambda one: int(one.parent.parent.name), default=None)
    named = shutil.which("postgres")
    return newest.parent if newest else Path(named).parent if named else None


def programs_or_skip() -> Path:
    """The same; without a server the test is skipped, or fails where one is promised."""
    found = programs()
    if found is None:
        reason = "no PostgreSQL server here (Debian's package `postgresql`)"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class PostgresServer:
    """A server whose data lie in `folder`, which it makes and removes."""

    programs: Path
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="bisect-pg-")))
    options: tuple[str, ...] = _OPTIONS
    process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make the data, start, and make the database that others are copied from."""
        if os.geteuid() == 0:
            os.chown(self.folder, _user().pw_uid, _user().pw_gid)
        options = ("-U", "bisect", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        self._run(["initdb", "-D", str(self._data), *options]).communicate()
        self.start()
        self._say(f"CREATE DATABASE {TEMPLATE}")
        engine = create_engine(self.address(TEMPLATE).url)
        bring_up_to_date(engine, contextlib.nullcontext, TEMPLATE)
        engine.dispose()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [word for one in (*self.options, f"unix_socket_directories={self.folder}") for word in ("-c", one)]
        self.process = self._run(["postgres", "-D", str(self._data), *options])
        ready = [str(self.programs / "pg_isready"), "-h", str(self.folder), "-t", "30", "-q"]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def stop(self) -> None:
        """Stop it as an administrator would in a hurry: every connection breaks."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)
            self.process = None

    def remove(self) -> None:
        """Stop it and leave nothing."""
        self.stop()
        shutil.rmtree(self.folder)

    @contextlib.contextmanager
    def database(self, *, empty: bool = False) -> Iterator[StoreAddress]:
        """A database of its own, at the newest schema or `empty`."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        self._say(f"CREATE DATABASE {name} TEMPLATE {'template0' if empty else TEMPLATE}")
        try:
            yield self.address(name)
        finally:
            if self.process is not None:
                self._say(f"DROP DATABASE {name} WITH (FORCE)")

    def address(self, name: str) -> StoreAddress:
        """The address of a database of this server."""
        where = {"host": str(self.folder)}
        return StoreAddress(URL.create("postgresql+psycopg", username="bisect", database=name, query=where))

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _say(self, statement: str) -> None:
        engine = create_engine(self.address("postgres").url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()

    def _run(self, words: list[str]) -> subprocess.Popen[bytes]:
        """Start a program of the server, as somebody who is not root; it ends when the tests end, however they do."""
        who = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            who += ["--reuid", str(_user().pw_uid), "--regid", str(_user().pw_gid), "--clear-groups"]
        variables = {"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        command = [*who, str(self.programs / words[0]), *words[1:]]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=variables, cwd=self.folder)


def _user() -> pwd.struct_passwd:
    known = {one.pw_name: one for one in pwd.getpwall()}
    return next(known[name] for name in _USERS if name in known)


@contextlib.contextmanager
def postgres_server(options: tuple[str, ...] = _OPTIONS) -> Iterator[PostgresServer]:
    """A server, while the context lasts; skips where there is none."""
    server = PostgresServer(programs_or_skip(), options=options)
    try:
        server.make()
        yield server
    finally:
        server.remove()
