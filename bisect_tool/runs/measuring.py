"""Makes the trials of a comparison: the build and the reference in turn, side by side in time, until the numbers tell.

Every second pair begins with the other build, so that a machine that gets steadily slower or faster favours neither. The
environment of the reference is opened only once the build has passed: a build that fails outright is compared with nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bisect_tool.environments.environment import BuildUnusable, Environment
from bisect_tool.errors import MachineFault
from bisect_tool.runs.comparing import Note, Side
from bisect_tool.runs.executors import Job, Result
from bisect_tool.runs.session import Session

BOOT = Path("/proc/sys/kernel/random/boot_id")  # proc(5): set anew at each start of the kernel


class ReferenceUnusable(Exception):
    """The reference build cannot be installed or does not work; `why` is the reason. `environment` is its digest."""

    def __init__(self, environment: str, why: BuildUnusable) -> None:
        super().__init__(str(why))
        self.environment = environment
        self.why = why


@dataclass(frozen=True, slots=True)
class Bench:
    """How a comparison makes its trials: `open_reference` opens the environment of the reference, `run` makes one trial.

    Both are generators of jobs (see `serving`); the reference stays open until the stack is closed. `run` takes the number of
    the build, its environment, and the note to store with the trial.
    """

    open_reference: Callable[[ExitStack], Generator[Job, Result, Environment]]
    run: Callable[[int, Environment, Note], Generator[Job, Result, None]]
    machine: str


def machine_since_start(boot: Path = BOOT) -> str:
    """The machine since its last start. Raises `MachineFault` where the kernel does not tell."""
    try:
        return boot.read_text(encoding="ascii").strip()
    except OSError as error:
        raise MachineFault(
            f"the kernel does not tell which machine this is: {error.strerror}",
            where=str(boot),
            advice="make /proc readable; comparisons of numbers must not be continued on another machine",
        ) from error


def measure(
    session: Session, case: str, build: int, environment: Environment, bench: Bench
) -> Generator[Job, Result, None]:
    """Make trials until the comparison of `case` on `build` is settled, going on with one that was interrupted.

    Raises what `open_reference` and `run` raise; what was measured until then is stored.
    """
    reference = session.asked.reference(case)
    begun = session.comparisons.unfinished(case, build, bench.machine)
    name = begun.note.comparison if begun else uuid.uuid4().hex[:16]
    about, against = session.trial_key(case, build), session.trial_key(case, reference)
    opened: dict[Side, Environment] = {Side.BUILD: environment}
    with ExitStack() as stack:
        for pair in count(begun.pairs if begun else 0):
            for side in (Side.BUILD, Side.REFERENCE) if pair % 2 == 0 else (Side.REFERENCE, Side.BUILD):
                if side not in opened:
                    opened[side] = yield from bench.open_reference(stack)
                number = build if side is Side.BUILD else reference
                yield from bench.run(number, opened[side], Note(name, about, against, side, pair, bench.machine))
                if session.comparisons.is_settled(name):
                    return
