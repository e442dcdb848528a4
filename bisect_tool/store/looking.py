"""Looking at a database without changing it: whether it answers, what it holds, who works."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import func, inspect, select, text
from sqlalchemy.exc import DBAPIError

from bisect_tool.store import faults, tables
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import open_engine
from bisect_tool.store.schema import NEWEST


@dataclass(frozen=True, slots=True)
class Look:
    """`schema` is None where no tables are yet; `seconds` is how long one small question takes; `held` counts leases."""

    schema: str | None
    seconds: float
    runs: int = 0
    held: int = 0

    @property
    def is_newer(self) -> bool:
        """Whether a newer version of this tool has been here."""
        return self.schema is not None and self.schema > NEWEST

    @property
    def is_older(self) -> bool:
        """Whether the next run brings it to the newest schema."""
        return self.schema is not None and self.schema < NEWEST


def look(address: StoreAddress) -> Look:
    """Ask the database at `address` once. Raises `SettingError` and the errors of `faults.explain`."""
    if address.path is not None and not address.path.exists():
        return Look(None, 0.0)
    engine = open_engine(address)
    try:
        with engine.connect() as connection:
            started = time.monotonic()
            connection.execute(text("SELECT 1"))
            seconds = time.monotonic() - started
            if not inspect(connection).has_table("alembic_version"):
                return Look(None, seconds)
            schema = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
            if schema != NEWEST:
                return Look(schema, seconds)
            counts = [
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (tables.runs, tables.leases)
            ]
            return Look(schema, seconds, *counts)
    except DBAPIError as error:
        raise faults.explain(error, address) from None
    finally:
        engine.dispose()
