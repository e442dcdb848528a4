"""Whose turn it is: of several hosts that share a store, one at a time works on a repro on a build.

The turn is taken before anything is installed, and whoever waited for it looks first at what the other one has learned. A slot
waits for a turn only while it has none; what else it could do in an open environment it does only where nobody else is at it,
so that no two hosts can wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bisect_tool.reports import events
from bisect_tool.runs.executors import Held, HoldLock, Job, Result
from bisect_tool.runs.session import Session
from bisect_tool.store.leases import Lease, LeaseKeeper, LeaseLost


@dataclass(slots=True)
class Turns:
    """The turns of one slot. Without `leases` the store is used by this cache alone, and there is nothing to wait for."""

    leases: LeaseKeeper | None
    tell: Callable[[events.Event], None]
    _held: dict[str, Lease] = field(default_factory=dict)
    _current: dict[int, str] = field(default_factory=dict)

    @property
    def are_shared(self) -> bool:
        """Whether other hosts may work on the same."""
        return self.leases is not None

    def wait(
        self, stack: ExitStack, session: Session, build: int, say_why: Callable[[str], None]
    ) -> Generator[Job, Result, bool]:
        """Wait for the turn, and keep it until `stack` is closed; False when others have done something in the meantime."""
        if self.leases is None:
            return True
        key, before = session.turn_key(build), session.known_of(build)
        say_why("another run works on the same question")
        held = yield HoldLock(Path(key), partial(self.leases.held, key, _about(session, build)))
        if not isinstance(held, Held) or held.turn is None:
            raise TypeError(held)
        stack.callback(held.lease.close)
        self._note(stack, session, key, held.turn)
        # Another slot of this run may have heard of what the other one did already.
        return not session.catch_up() and session.known_of(build) == before

    def take(self, stack: ExitStack, session: Session, build: int) -> bool:
        """Take the turn without waiting, until `stack` is closed; False when another run has it."""
        if self.leases is None:
            return True
        key = session.turn_key(build)
        if key in self._held:  # also of another session with the same repro
            self._current[id(session)] = key
            return True
        lease = self.leases.take(key, _about(session, build))
        if lease is None:
            return False
        stack.callback(self.leases.release, lease)
        self._note(stack, session, key, lease)
        return True

    def lease_of(self, session: Session) -> Lease | None:
        """What a trial of `session` is stored under."""
        return self._held.get(self._current.get(id(session), ""))

    @contextmanager
    def losing(self, session: Session) -> Iterator[None]:
        """What is done for `session` inside ends when another run has taken it over: what that one finds counts."""
        try:
            yield
        except LeaseLost:
            session.turns_lost += 1
            self.tell(
                events.Notice(
                    f"{session.asked.spec.name}: this run was silent for too long, so that another one has taken its work "
                    "over: the trial that ended now does not count, the other one does"
                )
            )

    def _note(self, stack: ExitStack, session: Session, key: str, lease: Lease) -> None:
        self._held[key] = lease
        self._current[id(session)] = key
        stack.callback(self._held.pop, key)


def _about(session: Session, build: int) -> str:
    return f"{session.asked.spec.name} on {session.asked.builds[build].version}"
