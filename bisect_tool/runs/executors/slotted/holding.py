"""Waiting for a lock, on behalf of every executor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from bisect_tool.environments import locks
from bisect_tool.runs.executors import Held, HoldLock, WaitingForLock
from bisect_tool.stopping import Stop


def hold(job: HoldLock, tell: Callable[[WaitingForLock], None], stop: Stop) -> Held:
    """Wait until the lock of `job` is held; `tell` hears once that another run has it.

    Raises `Cancelled` when `stop` ends the wait, and what `locks.exclusive` and `LeaseKeeper.held` raise.
    """
    stack = ExitStack()
    if job.turn is not None:
        lease = stack.enter_context(job.turn(lambda by: tell(WaitingForLock(by)), stop))
        return Held(stack, lease)
    stack.enter_context(locks.exclusive(job.path, lambda: tell(WaitingForLock()), stop))
    return Held(stack)
