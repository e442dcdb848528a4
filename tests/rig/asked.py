"""Submissions for tests, and a database whose clock is moved by moving everything in it."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Float, update

from bisect_tool.service.question import Submission
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, workers

SCRIPT = b"import toy\n"


def submission(name: str = "toy-spec", *files: tuple[str, bytes], script: bytes = SCRIPT, **keys: Any) -> Submission:
    """A spec of the toy package with its script; `keys` are those of the spec, `from_` for `from`."""
    base = {"name": name, "package": "toy", "channel": "release", "device": "cpu", "script": "repro.py"}
    given = {key.rstrip("_"): value for key, value in keys.items()}
    return Submission(json.dumps({**base, **given}), (("repro.py", script), *files))


def another(number: int, **keys: Any) -> Submission:
    """A submission of other content for each number."""
    return submission(f"toy-{number}", script=f"import toy  # {number}\n".encode(), **keys)


def pass_time(database: Database, seconds: float) -> None:
    """As if everything that the jobs and workers remember had been so many seconds earlier."""
    with database.engine.begin() as connection:
        for table in (jobs, workers):
            times = [
                column
                for column in table.columns
                if isinstance(column.type, Float) and column.name not in {"span", "used", "seconds_a_day"}
            ]
            connection.execute(update(table).values({column.name: column - seconds for column in times}))
