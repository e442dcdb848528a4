"""The two ways to ask the index: through an open store, and straight from the file of a cache, which takes next to no time."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bisect_tool.store import migrations

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class DatabaseAsker:
    """Asks within a transaction of the store."""

    connection: Connection
    is_server: bool

    def ask(self, sql: str, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        """As `Asker` says."""
        if not self.is_server:  # SQLite takes `:name` as it is
            return self.connection.exec_driver_sql(sql, dict(values)).all()
        from sqlalchemy import text

        return self.connection.execute(text(sql), dict(values)).all()


@dataclass(frozen=True, slots=True)
class FileAsker:
    """Asks a file, which it cannot change."""

    connection: sqlite3.Connection
    is_server: bool = False

    def ask(self, sql: str, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        """As `Asker` says."""
        return self.connection.execute(sql, values).fetchall()


def open_file(path: Path) -> FileAsker | None:
    """The database of a cache, to be read only; None for one that is not there, or not of the schema of this version."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        schema = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return FileAsker(connection) if schema == (newest_schema(),) else None


def newest_schema() -> str:
    """The schema that this version makes, by the names of its migrations: loading what makes it takes longer than asking."""
    folder = Path(migrations.__file__).parent / "versions"
    return max(path.name[1:5] for path in folder.glob("r[0-9]*_*.py"))
