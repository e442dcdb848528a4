"""Whoever does something may be killed at each moment at which that makes a difference, and another one does it again.

A process that is killed leaves what is in the database and what others have heard. So a kill makes a difference only before a
commit of something that was changed, and before and after a request that changes something; between two of those it leaves the
same, at whatever statement it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import urllib3
from sqlalchemy import event

from bisect_tool.store.database import Database


class Killed(BaseException):
    """kill -9: nothing that comes after it is done."""


@dataclass
class Fate:
    """Kills at the moment number `at`, once; None: never. `passed` says what each moment was."""

    at: int | None = None
    passed: list[str] = field(default_factory=list)

    def moment(self, what: str) -> None:
        """Raises `Killed` when this is the moment."""
        self.passed.append(what)
        if len(self.passed) == self.at:
            raise Killed(what)

    def survive(self, act: Callable[[], object], later: Callable[[], object]) -> None:
        """Have somebody `act`; when that one is killed, another one, `later`."""
        try:
            act()
        except Killed:
            later()
            act()


@contextmanager
def mortal(database: Database, fate: Fate, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everybody who uses the database or asks over HTTP in this process is mortal."""
    has_changed = False

    def changes(_connection: object, cursor: Any, statement: str, *_more: object) -> None:
        nonlocal has_changed
        has_changed = has_changed or (not statement.startswith("SELECT") and cursor.rowcount != 0)

    def commits(_connection: object) -> None:
        nonlocal has_changed
        if has_changed:
            has_changed = False
            fate.moment("commit")

    ask = urllib3.HTTPConnectionPool.urlopen

    def asks(pool: Any, method: str, url: str, *args: Any, **keys: Any) -> Any:
        if method == "GET":
            return ask(pool, method, url, *args, **keys)
        fate.moment(f"before {method}")
        answer = ask(pool, method, url, *args, **keys)
        fate.moment(f"after {method}")
        return answer

    listened = (("after_cursor_execute", changes), ("commit", commits))
    for name, hear in listened:
        event.listen(database.engine, name, hear)
    with patch.context() as patched:
        patched.setattr(urllib3.HTTPConnectionPool, "urlopen", asks)
        try:
            yield
        finally:
            for name, hear in listened:
                event.remove(database.engine, name, hear)
