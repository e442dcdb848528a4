"""Environments that are made ahead of need, while trials run.

What is made here never changes a decision: until a slot opens it, the search takes it for not here (`hidden`). What is said of
its price is what it cost to make, as if it had been made when it was needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bisect_tool.builds.build import Installation
from bisect_tool.environments.environment import BuildUnusable, Checking, EnvironmentKey, Making
from bisect_tool.environments.uv import Download
from bisect_tool.errors import BisectError
from bisect_tool.reports import events
from bisect_tool.runs.allowance import Allowance, wheel_to_fetch
from bisect_tool.runs.executors import AheadEnded, AheadTold, Executor, NoRoom, OpenEnvironment
from bisect_tool.runs.session import Session
from bisect_tool.runs.spending import Ledger, Work
from bisect_tool.search.abreast import Under
from bisect_tool.search.ahead import Candidate, is_wanted, likely_next
from bisect_tool.search.together import Asking
from bisect_tool.stopping import Cancelled


@dataclass(slots=True)
class Made:
    """An environment that is to be made ahead: since `started` once it `is_begun`, in `seconds` once it `is_there`."""

    session: Session
    number: int
    started: float
    work: Work = field(default_factory=lambda: Work(is_ahead=True))
    seconds: float = 0.0
    is_begun: bool = False
    is_there: bool = False
    is_dropped: bool = False

    @property
    def version(self) -> str:
        """The version of its build."""
        return self.session.asked.builds[self.number].version


@dataclass(slots=True)
class Ahead:
    """Makes at most `most` environments ahead of what is under way; 0: none."""

    executor: Executor
    sessions: Sequence[Session]
    allowance: Allowance
    ledger: Ledger
    tell: Callable[[events.Event], None]
    most: int
    clock: Callable[[], float] = time.monotonic
    hidden: set[str] = field(default_factory=set)
    _made: dict[str, Made] = field(default_factory=dict)
    _refused: dict[str, BuildUnusable] = field(default_factory=dict)
    _tried: set[str] = field(default_factory=set)

    @property
    def is_busy(self) -> bool:
        """Whether something is being made."""
        return any(not made.is_there for made in self._made.values())

    def makes(self, digest: str) -> bool:
        """Whether that environment is being made."""
        made = self._made.get(digest)
        return made is not None and made.is_begun and not made.is_there

    def proves(self, digest: str) -> bool:
        """Whether that environment is being made, and all of it is here."""
        return self.makes(digest) and self._made[digest].work.is_proven_now

    def check(self, key: EnvironmentKey) -> None:
        """Raises `BuildUnusable` when making it ahead has shown that."""
        if key.digest in self._refused:
            refused = self._refused[key.digest]
            raise BuildUnusable(str(refused), is_of_host=refused.is_of_host)

    def take(self, digest: str) -> Made | None:
        """A slot has opened an environment; gives how it was made when that was here."""
        self.hidden.discard(digest)
        made = self._made.pop(digest, None)
        if made is None or made.is_dropped:
            return None
        if not made.is_begun and not made.is_there:  # the slot was faster
            self.executor.drop(digest)
            return None
        self.ledger.used_ahead += 1
        if not made.is_there:  # its end has not arrived yet
            self.ledger.stretches += made.work.end(self.clock())
            self._count(made, self.clock())
        return made

    def settle(self, askings: Sequence[Asking], under: Sequence[Under]) -> None:
        """After a decision: what nobody wants any more is called off, unless all of it is here.

        Even its last byte would come later for what is needed now; what has come is kept for a later run.
        """
        open_now = {one.environment for one in under}
        for digest, made in self._made.items():
            is_loser = digest not in open_now and not is_wanted(askings, digest)
            if is_loser and not made.is_there and not made.is_dropped and not made.work.is_here:
                made.is_dropped = True
                self.executor.drop(digest)

    def look(self, askings: Sequence[Asking], under: Sequence[Under], steps_left: int) -> None:
        """While trials run: begin with what is likely to be needed next."""
        if not self.most or not under:
            return
        for candidate in likely_next(askings, under, self.most):
            if sum(not made.is_there for made in self._made.values()) >= self.most:
                return
            session = self.sessions[candidate.asking]
            if self._may_be_made(session, candidate, steps_left):
                self._begin(session, candidate)

    def _may_be_made(self, session: Session, candidate: Candidate, steps_left: int) -> bool:
        build = session.asked.builds[candidate.build]
        digest = candidate.environment
        if digest in self._tried or digest in self._made or build.is_source:
            return False
        size = wheel_to_fetch(session, candidate.build)
        return self.allowance.has_room_ahead(size, steps_left)

    def _begin(self, session: Session, candidate: Candidate) -> None:
        made = Made(session, candidate.build, self.clock())
        key = session.asked.environment_key(candidate.build)
        if session.environments.is_ready(key):
            return
        self._made[key.digest] = made
        self._tried.add(key.digest)
        self.hidden.add(key.digest)
        self.executor.prepare(_job(session, candidate.build), session.asked.builds[candidate.build].size)

    def told(self, arrival: AheadTold) -> None:
        """News of the background."""
        made = self._made.get(arrival.digest)
        if made is None:
            return
        self.ledger.stretches += made.work.take(arrival.step, arrival.at)
        match arrival.step:
            case Making():
                made.started, made.is_begun = arrival.at, True
                self.tell(events.MakingAhead(made.version, "installing"))
            case Checking():
                self.tell(events.MakingAhead(made.version, "proving"))
            case Download(_, size, done, here) if not done and not here:
                self.tell(events.MakingAhead(made.version, "downloading"))
                self._announced(size)
            case _:
                pass

    def _announced(self, size: int | None) -> None:
        """A download in the background never uses up what a slot may need: it gives way."""
        if self.allowance.has_room_ahead(size, 0):
            self.allowance.announced(size)
        else:
            self._give_up("they would use up what the run may fetch")

    def ended(self, arrival: AheadEnded) -> None:
        """The end of one of them."""
        made = self._made.get(arrival.digest)
        if made is None or made.is_there:
            return
        self.ledger.stretches += made.work.end(arrival.at)
        self.tell(events.MadeAhead(made.version, arrival.seconds, is_ready=arrival.error is None))
        if arrival.error is None:
            self._count(made, arrival.at)
            return
        self.allowance.came_to_nothing(made.work.fetched + made.work.broken_off)
        del self._made[arrival.digest]
        self.hidden.discard(arrival.digest)
        self._failed(made, arrival.digest, arrival.error)

    def _count(self, made: Made, at: float) -> None:
        made.is_there, made.is_dropped = True, False
        made.seconds = at - made.started
        self.ledger.made_ahead += 1
        self.allowance.fetched(made.session, made.number, made.work.fetched)

    def _failed(self, made: Made, digest: str, error: BaseException) -> None:
        """What cannot be made ahead is made when it is needed; whatever is wrong shows then, where it counts."""
        match error:
            case Cancelled():
                if made.is_dropped:  # may be wanted again
                    self._tried.discard(digest)
            case BuildUnusable() if _proving_device(made.session) == made.session.asked.device.name:
                self._refused[digest] = error
            case NoRoom() | BisectError():
                reason = "there is no room for them" if isinstance(error, NoRoom) else error.what
                self._give_up(reason)
            case _:
                pass

    def _give_up(self, reason: str) -> None:
        if self.most:
            self.tell(events.Notice(f"environments are no longer made ahead of need: {reason}"))
        self.stop()

    def stop(self) -> None:
        """Call everything off, for good."""
        self.most = 0
        for digest, made in self._made.items():
            if not made.is_there:
                made.is_dropped = True
                self.executor.drop(digest)


def _proving_device(session: Session) -> str:
    """Never the GPU: its memory belongs to the trial that runs there. It is proven there when a slot opens it."""
    return session.asked.device.name if session.asked.device.name == "cpu" else "cpu"


def _job(session: Session, number: int) -> OpenEnvironment:
    from bisect_tool.runs.serving import open_job

    job, asked, build = open_job(session, number), session.asked, session.asked.builds[number]

    def install() -> Installation:
        # Another file under the same name is noticed when the build is chosen; it is no business of the background.
        if asked.channel.current(build).identity != build.identity:
            raise Cancelled
        return job.install()

    return replace(job, install=install, device=_proving_device(session))
