"""`bisect try --discover`: looks for a configuration in which a failure shows that does not show as it is.

A configuration is a changed spec, so its trials are made, judged and stored as those of any spec: started again, the search
goes on from where it stopped. A failure counts when it is one that the spec names, or any of a test where it names none, and
only in a configuration whose controls pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.errors import BoundError, DeviceMissing, EmptyRange, PackageNotFound, SettingError
from bisect_tool.reports import events
from bisect_tool.reports.cleaning import one_line
from bisect_tool.reports.discovery import TriedConfiguration
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.runs.trying.attempting import Desk
from bisect_tool.runs.trying.axes import Effect, effect_of
from bisect_tool.runs.trying.configuring import changed_repro, changed_spec
from bisect_tool.search.configurations import (
    Change,
    Configuration,
    Limits,
    LookAt,
    NoneReproduces,
    Reproduces,
    Shown,
    Spent,
    decide,
)
from bisect_tool.spec.model import Case, Role
from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault, Passed, Verdict

AS_IS: Configuration = ()
NOT_HERE = (BuildUnusable, BoundError, DeviceMissing, EmptyRange, PackageNotFound, SettingError)


@dataclass(slots=True)
class Place:
    """Where the trials of one configuration are made, and what they have shown. `why_not`: why none can be made.

    `is_as_it_is`: it changes nothing that trials are stored under.
    """

    session: Session | None
    number: int = 0
    why_not: str = ""
    is_as_it_is: bool = False
    shown: list[Shown] = field(default_factory=list)
    details: dict[Shown, str] = field(default_factory=dict)
    log: str | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class Search:
    """Looks at one configuration after the other. `asked` is the question as it is, `build` what its build was called.

    `tests` are the cases that are to show the failure; `look` the seconds that a look at them takes.
    """

    desk: Desk
    asked: Asked
    build: str | None
    tests: tuple[Case, ...]
    changes: tuple[Change, ...]
    limits: Limits
    look: float
    clock: Callable[[], float] = time.monotonic
    places: dict[Configuration, Place] = field(default_factory=dict)
    started: float = 0.0

    def begin(self, session: Session, number: int) -> Shown:
        """Take over what is known of the spec as it is; gives what it shows."""
        self.started = self.clock()
        place = self.places[AS_IS] = Place(session, number)
        for turn in range(max(len(session.seen.get((case.name, number), ())) for case in self.tests)):
            self._take(place, turn)
        if Shown.WANTED not in place.shown:
            return Shown.PASSES
        if failing := self._failing_controls(place, session):
            place.shown = [Shown.NOT_JUDGED if one is Shown.WANTED else one for one in place.shown]
            place.details[Shown.NOT_JUDGED] = f"the failure shows, but a control does not pass: {failing}"
            return Shown.NOT_JUDGED
        return Shown.WANTED

    def run(self) -> Reproduces | NoneReproduces:
        """Search to the end. Raises a `BisectError` when the machine gets in the way; everything learned is stored."""
        while isinstance(step := decide(self.changes, self._seen(), self._spent(), self.limits), LookAt):
            again = " again, to confirm it" if step.confirms else ""
            self.desk.tell(events.Notice(f"configuration {len(self.places)}: {name_of(step.configuration)}{again}"))
            self._look_at(step.configuration)
        return step

    def _seen(self) -> Mapping[Configuration, Sequence[Shown]]:
        """What the planner is told: not of the spec as it is, since repeats of that are a change of their own."""
        return {one: place.shown for one, place in self.places.items() if one != AS_IS}

    def _spent(self) -> Spent:
        looks = sum(len(place.shown) for one, place in self.places.items() if one != AS_IS)
        return Spent(looks, self.clock() - self.started, self.look)

    def _look_at(self, configuration: Configuration) -> None:
        began = self.clock()
        place = self.places.get(configuration)
        if place is None:
            place = self.places[configuration] = self._opened(configuration)
        if place.session is not None:
            try:
                self._one_look(place, place.session)
            except BuildUnusable as unusable:
                place.session, place.why_not = None, str(unusable)
        if place.session is None:
            place.shown.append(Shown.NOT_JUDGED)
            place.details[Shown.NOT_JUDGED] = place.why_not
        place.seconds += self.clock() - began

    def _opened(self, configuration: Configuration) -> Place:
        """The session of a configuration."""
        effect = effect_of(configuration)
        try:
            asked, number = self._asked(effect)
        except NOT_HERE as error:
            return Place(None, why_not=getattr(error, "what", str(error)))
        only_repeats = {change.axis for change in configuration} == {"repeats"}
        return Place(self.desk.session(asked), number, is_as_it_is=only_repeats)

    def _asked(self, effect: Effect) -> tuple[Asked, int]:
        base, number = self.asked, 0
        plain = replace(effect, runner=())
        if effect.device is not None or effect.build is not None or effect.variant is not None:
            base, number = self.desk.ask(
                changed_spec(self.asked.read, self.asked.repro, plain), effect.build or self.build
            )
        read = changed_spec(self.asked.read, self.asked.repro, effect)
        return replace(base, spec=read.spec, read=read, repro=changed_repro(self.asked.repro, effect)), number

    def _one_look(self, place: Place, session: Session) -> None:
        """A further trial of each test until one shows the failure; then the controls, once."""
        # Repeats alone change nothing: the trials of the spec as it is come before theirs.
        before_ours = len(self.places[AS_IS].shown) if place.is_as_it_is else 0
        turn = before_ours + len(place.shown)
        if session.broken.get(place.number):
            raise BuildUnusable(session.broken[place.number])
        for case in self.tests:
            self.desk.run(session, place.number, [case.name], turn + 1)
            seen = session.seen.get((case.name, place.number), [])
            if len(seen) > turn and self._shown(seen[turn].verdict) is Shown.WANTED:
                break
        if session.broken.get(place.number):
            raise BuildUnusable(session.broken[place.number])
        self._take(place, turn)
        if place.shown[-1] is Shown.WANTED and (failing := self._failing_controls(place, session)):
            place.shown[-1] = Shown.NOT_JUDGED
            place.details[Shown.NOT_JUDGED] = f"the failure shows, but a control does not pass: {failing}"

    def _take(self, place: Place, turn: int) -> None:
        """Count what the trials of one turn have shown: the most telling of them."""
        assert place.session is not None
        found: list[tuple[Shown, SeenTrial, str]] = []
        for case in self.tests:
            trials = place.session.seen.get((case.name, place.number), [])[turn : turn + 1]
            found += [(self._shown(trial.verdict), trial, case.name) for trial in trials]
        order = (Shown.WANTED, Shown.OTHER, Shown.NOT_JUDGED, Shown.PASSES)
        if not found:
            place.shown.append(Shown.NOT_JUDGED)
            return
        shown, trial, name = min(found, key=lambda one: order.index(one[0]))
        place.shown.append(shown)
        place.details[shown] = _detail(trial.verdict, name, several=len(self.tests) > 1)
        if place.log is None or shown is Shown.WANTED:
            place.log = f"{trial.folder}/log.txt"

    def _failing_controls(self, place: Place, session: Session) -> str:
        """The controls that do not pass, with what they show; each is run once."""
        names = [case.name for case in self.asked.read.spec.cases if case.role is Role.CONTROL]
        self.desk.run(session, place.number, names, 1)
        failing = []
        for name in names:
            seen = session.seen.get((name, place.number), [])
            if not seen or not isinstance(seen[-1].verdict, Passed):
                failing.append(f"{name} ({_detail(seen[-1].verdict, name, several=False) if seen else 'no trial'})")
        return ", ".join(failing)

    def _shown(self, verdict: Verdict) -> Shown:
        match verdict:
            case Passed():
                return Shown.PASSES
            case Failed(failures):
                is_wanted = not self.asked.spec.failures or any(one.name for one in failures)
                return Shown.WANTED if is_wanted else Shown.OTHER
            case CannotJudge() | MachineAtFault():
                return Shown.NOT_JUDGED

    def parts(self) -> tuple[TriedConfiguration, ...]:
        """Every configuration that was looked at, in that order."""
        return tuple(self._part(one, place) for one, place in self.places.items())

    def _part(self, configuration: Configuration, place: Place) -> TriedConfiguration:
        order = (Shown.WANTED, Shown.OTHER, Shown.NOT_JUDGED, Shown.PASSES)
        shown = min(place.shown, key=order.index, default=Shown.NOT_JUDGED)
        session = place.session
        effect = effect_of(configuration)
        build = session.asked.builds[place.number].version if session else effect.build or ""
        return TriedConfiguration(
            changes=tuple(change.name for change in configuration),
            build=build or self.asked.builds[0].version,
            shows=shown.value,
            detail=one_line(place.details.get(shown, ""), 300),
            shown=place.shown.count(Shown.WANTED),
            trials=len(place.shown) if session else 0,
            seconds=round(place.seconds, 1),
            log=place.log,
        )


def name_of(configuration: Configuration) -> str:
    """`dtype float64 with dynamic yes`; the spec itself is `as it is`."""
    return " with ".join(change.name for change in configuration) or "as it is"


def _detail(verdict: Verdict, case: str, *, several: bool) -> str:
    where = f" in {case}" if several else ""
    match verdict:
        case Passed():
            return ""
        case Failed(failures):
            titles = [f"{one.name}: {one.signature.title}" if one.name else one.signature.title for one in failures]
            return "; ".join(titles) + where
        case CannotJudge(reason) | MachineAtFault(reason):
            return reason + where
