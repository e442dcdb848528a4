"""What was learned about single files of the index, kept between runs in a small SQLite file of the cache.

When an answer is asked again (its age against the age of the nightly, both at the time of asking):

- a file that is there: after a day while the nightly is younger than two weeks, after 30 days from then on;
- a file that is not there: after an hour while the nightly is younger than three days, after a day until it is 30 days old,
  after a week from then on.

What is inside a wheel is remembered with the file's fingerprint, for good.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from bisect_tool.builds.cache_faults import cannot_keep
from bisect_tool.errors import CacheBroken

_FILE = "nightly-files.sqlite"
PATIENCE = 60.0  # seconds to wait for another process
_TABLES = (
    "CREATE TABLE IF NOT EXISTS files "
    "(address TEXT PRIMARY KEY, asked REAL NOT NULL, there INTEGER NOT NULL, size INTEGER, modified REAL, etag TEXT)",
    "CREATE TABLE IF NOT EXISTS contents (file TEXT, fingerprint TEXT, inside TEXT, PRIMARY KEY (file, fingerprint))",
)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a server says of a file: `there`, its size in bytes, when it was last changed (UTC), its entity tag."""

    there: bool
    size: int | None = None
    modified: datetime | None = None
    etag: str | None = None

    @property
    def fingerprint(self) -> str | None:
        """What tells this content from another one under the same name; see `docs/nightlies.md` for the rule."""
        if self.modified is not None:
            return fingerprint_of(self.modified)
        return f"etag:{self.etag}" if self.etag else None


def fingerprint_of(modified: datetime) -> str:
    """The fingerprint of a file that was last changed then; a second is as exact as servers are."""
    return f"modified:{modified.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer and when it was given."""

    facts: FileFacts
    asked: datetime

    def is_fresh(self, day: date, now: datetime) -> bool:
        """Whether it still counts for the nightly of `day`; the rule is that of this module."""
        age = now.date() - day
        if self.facts.there:
            lasting = _DAY if age < timedelta(days=14) else timedelta(days=30)
        elif age < timedelta(days=3):
            lasting = _HOUR
        else:
            lasting = _DAY if age < timedelta(days=30) else timedelta(days=7)
        return timedelta(0) <= now - self.asked < lasting


class Memory:
    """The file of one cache folder; None keeps everything for this process only."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, Remembered] | None = None
        self._insides: dict[tuple[str, str], str] | None = None

    def of(self, addresses: Iterable[str]) -> Mapping[str, Remembered]:
        """The answers that are remembered, by address.

        Raises `CacheNotWritable`, `DiskFull`.
        """
        files = self._known()
        return {address: files[address] for address in addresses if address in files}

    def _known(self) -> dict[str, Remembered]:
        """All that the file holds, read once: a few hundred bytes a nightly."""
        if self._files is None:
            rows = []
            if self._folder is not None:
                with self._open() as connection:
                    rows = connection.execute("SELECT * FROM files").fetchall()
            # Assigned when it is complete: another thread may ask at any moment.
            self._files = {row[0]: Remembered(_facts(*row[2:]), datetime.fromtimestamp(row[1], UTC)) for row in rows}
        return self._files

    def keep(self, answers: Mapping[str, FileFacts], now: datetime) -> None:
        """Remember answers that were given `now`.

        Raises `CacheNotWritable`, `DiskFull`.
        """
        self._known().update({address: Remembered(facts, now) for address, facts in answers.items()})
        if self._folder is None or not answers:
            return
        rows = [(address, now.timestamp(), *_columns(facts)) for address, facts in answers.items()]
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)

    def inside(self, file: str, fingerprint: str) -> str | None:
        """What was found inside a wheel, None when nobody looked."""
        return self._known_insides().get((file, fingerprint))

    def keep_inside(self, file: str, fingerprint: str, inside: str) -> None:
        """Remember what is inside a wheel.

        Raises `CacheNotWritable`, `DiskFull`.
        """
        self._known_insides()[file, fingerprint] = inside
        if self._folder is not None:
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", (file, fingerprint, inside))

    def _known_insides(self) -> dict[tuple[str, str], str]:
        if self._insides is None:
            rows = []
            if self._folder is not None:
                with self._open() as connection:
                    rows = connection.execute("SELECT file, fingerprint, inside FROM contents").fetchall()
            self._insides = {(row[0], row[1]): row[2] for row in rows}
        return self._insides

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction; a file that is damaged is removed, since it is only a memory.

        Raises `CacheNotWritable`, `DiskFull`, `CacheBroken`.
        """
        assert self._folder is not None
        path = self._folder / _FILE
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            connection = _connected(path)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except OSError as error:
            raise cannot_keep("answers of the index", self._folder, error) from error
        except sqlite3.OperationalError as error:
            raise cannot_keep("answers of the index", self._folder, OSError(str(error))) from error
        except sqlite3.DatabaseError as error:
            path.unlink(missing_ok=True)
            what = f"what was remembered of the nightlies is damaged ({error}); it has been removed"
            raise CacheBroken(what, where=str(path), advice="Run the same command again.") from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        with connection:
            for table in _TABLES:
                connection.execute(table)
    except BaseException:
        connection.close()
        raise
    return connection


def _facts(there: int, size: int | None, modified: float | None, etag: str | None) -> FileFacts:
    return FileFacts(bool(there), size, None if modified is None else datetime.fromtimestamp(modified, UTC), etag)


def _columns(facts: FileFacts) -> tuple[int, int | None, float | None, str | None]:
    return int(facts.there), facts.size, facts.modified.timestamp() if facts.modified else None, facts.etag
