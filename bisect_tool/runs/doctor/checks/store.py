"""Where results and logs are shared, if they are: whether the database answers and the folder of logs can be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.errors import BisectError
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place
from bisect_tool.settings import without_secrets

ORDER = 65
_SLOW = 0.1  # seconds for the smallest question


def check(place: Place) -> Iterator[Finding]:
    """Nothing where both are those of the cache."""
    if place.settings.store:
        yield _database(place.settings.store, place.settings.cache / "results.sqlite")
    if place.settings.logs:
        yield _logs(place.settings.logs)


def _database(given: str, own: Path) -> Finding:
    from bisect_tool.store.address import read_address
    from bisect_tool.store.looking import look

    try:
        address = read_address(given, own)
        found = look(address)
    except BisectError as error:
        where = f" ({error.where})" if error.where else ""
        return Finding(about="store", level="problem", says=f"{error.what}{where}", fix=error.advice)
    facts = {"store": str(address), "schema": found.schema, "seconds": found.seconds, "runs": found.runs}
    if found.is_newer:
        says = f"{address} has schema {found.schema}, made by a newer version"
        return Finding(about="store", level="problem", says=says, fix="update bisect, on every host", facts=facts)
    state = f"{found.runs} runs, {found.held} questions being worked on"
    if found.schema is None:
        state = "no tables yet, the first run makes them"
    elif found.is_older:
        state = f"schema {found.schema}, which the next run brings up to date"
    says = f"{address} answers in {found.seconds * 1000:.0f} ms: {state}"
    level: Level = "warning" if found.seconds > _SLOW else "ok"
    fix = "each trial asks it several times: name a database that is nearer"
    return Finding(about="store", level=level, says=says, fix=fix, facts=facts)


def _logs(address: str) -> Finding:
    shown = without_secrets(address)
    if "://" in address:
        from bisect_tool.store.logs import SharedLogs

        try:
            SharedLogs(address, lambda _line: None)
        except BisectError as error:
            return Finding(about="logs", level="problem", says=f"{error.what} ({shown})", fix=error.advice)
        return Finding(
            about="logs", level="ok", says=f"logs of trials go to {shown}, which is tried with the first one"
        )
    path = Path(address)
    while not path.exists() and path != path.parent:
        path = path.parent
    if os.access(path, os.W_OK | os.X_OK) and path.is_dir():
        return Finding(about="logs", level="ok", says=f"logs of trials go to {shown}")
    fix = "give this user the right to write there; until then logs stay in the cache, and other hosts do not see them"
    return Finding(
        about="logs", level="warning", says=f"{path} cannot be written, logs are meant to go to {shown}", fix=fix
    )
