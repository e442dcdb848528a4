"""`bisect try`: all cases of a spec on one build, judged and stored as in a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.errors import BisectError, interrupted
from bisect_tool.reports import events
from bisect_tool.reports.attempt import Attempt, TriedCase
from bisect_tool.runs.ahead import Ahead
from bisect_tool.runs.allowance import Allowance
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.confining import check_asked
from bisect_tool.runs.executors.local import LocalExecutor
from bisect_tool.runs.one_build import ask_one
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.renewal import Renewal
from bisect_tool.runs.reporting import machine_part, spec_part
from bisect_tool.runs.serving import Service
from bisect_tool.runs.session import Session
from bisect_tool.runs.slots import Slots, open_slots
from bisect_tool.runs.spending import Ledger
from bisect_tool.runs.starting import Starting
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.trying.advising import next_commands, remarks
from bisect_tool.runs.trying.attempt_parts import Maker
from bisect_tool.runs.trying.look import Look
from bisect_tool.runs.trying.one_slot import OneSlot
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.model import Case, Role
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.store.results import Results
from bisect_tool.trials.judge import advice_for

Outcome = Literal["judged", "not judged", "unfinished"]


class AttemptStopped(Exception):
    """It was cut short by `error`; `attempt` tells what is known so far."""

    def __init__(self, error: BisectError, attempt: Attempt) -> None:
        super().__init__(str(error))
        self.error = error
        self.attempt = attempt


@dataclass(slots=True)
class Desk:
    """Where one build is looked at: one slot for each device, closed at the end.

    Results are stored as in a run, under the same keys.
    """

    workshop: Workshop
    results: Results
    wishes: Wishes
    tell: Callable[[events.Event], None]
    allowance: Allowance = field(default_factory=Allowance)
    _starting: Starting = field(init=False)
    _open_slots: dict[str, tuple[Slots, OneSlot]] = field(default_factory=dict)
    _renewed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.allowance.limit = self.workshop.settings.max_downloads
        self._starting = Starting(lambda line: self.tell(events.Notice(line)))

    def ask(self, read: ReadSpec, build: str | None) -> tuple[Asked, int]:
        """The question of a spec over the build that a text means. Raises what `ask_one` and `check_asked` raise."""
        check_asked(self.workshop.settings, self.workshop.environ, [read])
        means = self.workshop.means(lambda line: self.tell(events.Notice(line)), refresh=self.wishes.refresh)
        return ask_one(read, self.wishes, means, build, datetime.now(UTC))

    def session(self, asked: Asked) -> Session:
        """What is known of it."""
        made = Session(bare(asked), self.results, self.workshop.environments(), Pace())
        made.load()
        return made

    def run(self, session: Session, number: int, cases: Sequence[str], repeat: int) -> None:
        """Run cases until each has `repeat` trials.

        Raises `BuildUnusable`, a `BisectError`; whatever it raises, what was learned is stored.
        """
        self._renew(session, number)
        if session.broken.get(number) or not missing(session, number, cases, repeat):
            return  # everything is known: nothing needs to be installed for it
        slot = self._slot_for(session)
        ledger = Ledger(time.monotonic())
        ahead = Ahead(slot.executor, [session], self.allowance, ledger, self.tell, 0)
        cache, results = self.workshop.cache, self.results
        service = Service([session], cache, results, session.pace, ahead, self._starting, self.tell)
        slot.run(service, service.look(session, number, cases, repeat), session.asked.builds[number])

    def _renew(self, session: Session, number: int) -> None:
        """Ask once for each build whether its file was replaced."""
        if session.asked.builds[number].identity not in self._renewed:
            Renewal([session], self.tell).renew(session, number)
            self._renewed.add(session.asked.builds[number].identity)

    def _slot_for(self, session: Session) -> OneSlot:
        """The slot of the session's device."""
        device = session.asked.device.name
        if device not in self._open_slots:
            workshop = self.workshop
            slots = open_slots([session], 1, workshop.settings.wait_for_gpu, workshop.environ, self.tell)
            executor = LocalExecutor(slots.slots, session.environments, workshop.environ)
            self._open_slots[device] = slots, OneSlot(executor, self.allowance, self.tell)
        return self._open_slots[device][1]

    def close(self) -> None:
        """Leave nothing running."""
        for slots, slot in self._open_slots.values():
            slot.executor.close()
            if slots.nvml is not None:
                slots.nvml.close()
        self._starting.close()


def missing(session: Session, number: int, cases: Sequence[str], repeat: int) -> list[str]:
    """The cases that lack trials; numbers are compared once."""
    wanted = {case: 1 if session.asked.has_metrics(case) else repeat for case in cases}
    return [case for case in cases if len(session.seen[case, number]) < wanted[case]]


def bare(asked: Asked) -> Asked:
    """The same question with every case judged by itself, so that a control that fails hides nothing of the others.

    Where numbers are compared the roles stay: controls have none.
    """
    if asked.spec.metrics:
        return asked
    cases = tuple(case.model_copy(update={"role": Role.TEST}) for case in asked.spec.cases)
    return replace(asked, spec=asked.spec.model_copy(update={"cases": cases}))


def attempt(desk: Desk, read: ReadSpec, look: Look) -> tuple[Attempt, Session, int]:
    """Look at one build: what was found, the session that knows it, and the build's number there.

    Raises `AttemptStopped` when the machine or the user ends it early, a `BisectError` when it cannot even begin.
    """
    began = time.monotonic()
    asked, number = desk.ask(read, look.build)
    session = desk.session(asked)
    chosen = [case for case in read.spec.cases if not look.cases or case.name in look.cases]
    # Controls first, as in a run.
    chosen.sort(key=lambda case: case.role is not Role.CONTROL)
    desk.tell(_started(session, number, chosen))
    known = frozenset() if desk.wishes.fresh else frozenset(session.taken)

    def made(outcome: Outcome | None) -> Attempt:
        return _attempt(desk, session, number, chosen, look, known, time.monotonic() - began, outcome)

    try:
        desk.run(session, number, [case.name for case in chosen], look.repeat)
    except BuildUnusable:
        pass  # it is stored, and told with the build
    except BisectError as error:
        raise AttemptStopped(error, made("unfinished")) from error
    except KeyboardInterrupt as stop:
        raise AttemptStopped(interrupted(), made("unfinished")) from stop
    return made(None), session, number


def _attempt(
    desk: Desk,
    session: Session,
    number: int,
    chosen: Sequence[Case],
    look: Look,
    known: frozenset[str],
    elapsed: float,
    outcome: Outcome | None,
) -> Attempt:
    asked = session.asked
    maker = Maker(session, number, look.lines, known)
    by_name = {case.name: case for case in chosen}
    cases = tuple(maker.case(case) for case in asked.read.spec.cases if case.name in by_name)
    failures = maker.failures()
    made = Attempt(
        outcome=outcome or _outcome(cases),
        spec=spec_part(asked),
        build=maker.build(),
        cases=cases,
        failures=failures,
        unseen=maker.unseen(failures),
        controls_pass=_controls(cases),
        trials=session.trials_made,
        trials_known=sum(case.known for case in cases),
        elapsed_s=round(elapsed, 1),
        environment=machine_part(asked, desk.workshop.uv.version()),
        cache=str(desk.workshop.cache.root),
    )
    said = [advice_for(failure) for failure in session.failures.values()]
    return made.model_copy(
        update={
            "advice": tuple(dict.fromkeys([*(text for text in said if text), *remarks(made)])),
            "next": next_commands(made, asked.read.path, look),
        }
    )


def _outcome(cases: Sequence[TriedCase]) -> Outcome:
    is_judged = all(case.state in ("pass", "failing", "flaky") for case in cases)
    return "judged" if is_judged and _controls(cases) is not False else "not judged"


def _controls(cases: Sequence[TriedCase]) -> bool | None:
    controls = [case for case in cases if case.role == "control"]
    return all(case.state == "pass" for case in controls) if controls else None


def _started(session: Session, number: int, chosen: Sequence[Case]) -> events.RunStarted:
    spec = session.asked.read.spec
    return events.RunStarted(
        spec=spec.title or spec.name,
        package=spec.package,
        builds=(session.asked.builds[number].version,),
        cases=tuple((case.name, case.role.value) for case in spec.cases if case in chosen),
        device=session.asked.device.kind,
        steps_left=1,
    )
