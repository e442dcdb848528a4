"""A process that has the terminal to itself while this one waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

NOT_FOUND, NOT_EXECUTABLE, SIGNALLED = 127, 126, 128
_ITS_OWN = (signal.SIGINT, signal.SIGQUIT)  # the terminal sends these to the child as well
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP)


def run_in_foreground(words: Sequence[str], environ: Mapping[str, str], folder: Path, *, ending: signal.Signals) -> int:
    """Run a program and wait for it; gives its exit status as a shell would: 128 + N for a signal, 127 when there is none.

    Ctrl-C is for the child alone. When this process is told to end, `ending` is what the child is sent: an interactive
    shell takes no notice of SIGTERM.
    """
    with _deferring(ending) as follow:
        try:
            child = subprocess.Popen(list(words), env=dict(environ), cwd=folder)
        except FileNotFoundError:
            print(f"bisect: {words[0]}: there is no such command in this environment", file=sys.stderr)  # noqa: T201
            return NOT_FOUND
        except OSError as error:
            print(f"bisect: {words[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
            return NOT_EXECUTABLE
        follow(child)
        with _terminal():
            status = child.wait()
    return status if status >= 0 else SIGNALLED - status


@contextmanager
def _deferring(ending: signal.Signals) -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Signals are for the child, also those that come while it is being started; gives whom to tell of the child."""
    children: list[subprocess.Popen[bytes]] = []
    missed: list[int] = []

    def nothing(_number: int, _frame: FrameType | None) -> None: ...

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if not children:
            missed.append(number)
        for child in children:
            child.send_signal(ending)

    def follow(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        if missed:
            child.send_signal(ending)

    # Functions and not SIG_IGN, which a child would inherit.
    wanted = {**dict.fromkeys(_ITS_OWN, nothing), **dict.fromkeys(_HANDED_ON, hand_on)}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield follow
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _terminal() -> Iterator[None]:
    """Afterwards the terminal is ours again: a shell that was killed does not give it back."""
    try:
        yield
    finally:
        if sys.stdin is not None and sys.stdin.isatty():
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
            except OSError:
                pass  # it is not our controlling terminal
            finally:
                signal.signal(signal.SIGTTOU, before)
