"""Bringing a database to the newest schema. Alembic is loaded only when there is something to do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from bisect_tool.errors import CacheTooNew

MIGRATIONS = Path(__file__).with_name("migrations")
NEWEST = "0008"
_LOCK = 7_402_159_936_114_503_981  # of this tool, among the advisory locks of a PostgreSQL database


def bring_up_to_date(engine: Engine, lock: Callable[[], AbstractContextManager[None]], where: str) -> None:
    """Run the migrations that are missing, one process at a time: on a server over all hosts. `where` is for people.

    Raises `CacheTooNew` for a database of a newer version.
    """
    with engine.connect() as connection:
        if _version(connection) == NEWEST:
            return
    with lock(), engine.connect() as connection:
        _begin(connection)
        version = _version(connection)
        if version == NEWEST:
            return
        if version is not None and not _known(version):
            raise CacheTooNew(
                f"the results database has schema {version}, this version knows schemas up to {NEWEST}",
                where=where,
                advice="update bisect, or name another folder with --cache or another address with --store",
            )
        _upgrade(connection)


def _begin(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        # Python's sqlite3 opens no transaction before a CREATE TABLE: without this, a kill in the middle leaves half a
        # schema.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        # Released by the server at the end of the transaction, by whatever cause it ends.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _known(version: str) -> bool:
    return any((MIGRATIONS / "versions").glob(f"r{version}_*.py"))


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.commit()
