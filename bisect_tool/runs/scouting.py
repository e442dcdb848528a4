"""Before a search over nightlies: the same search over thin builds, which says where the whole ones are worth fetching.

`docs/speed.md`, "Thin builds", says when that is done, and why no answer rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build
from bisect_tool.builds.channels.commit import LAID_OVER
from bisect_tool.builds.python_files import NotReadable
from bisect_tool.errors import IndexUnreachable
from bisect_tool.reports import events
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.session import Session
from bisect_tool.runs.thin_look import ThinLook
from bisect_tool.runs.thin_session import PartsChannel, ThinChannel, ThinSession
from bisect_tool.search.hints import counting_hints
from bisect_tool.search.planner import Purpose

FEWEST = 8  # builds of a range; in a shorter one whole builds are as few
BIG = 50_000_000  # bytes of a wheel; a smaller one is fetched whole as fast
SMALL_SHARE = 0.2  # of the wheel that its Python part may take
CHANNEL = "nightly"


@dataclass(slots=True)
class Scout:
    """Makes the thin searches of one run. `search` goes on until sessions want nothing more; it may raise a `BisectError`."""

    search: Callable[[Sequence[ThinSession]], None]
    tell: Callable[[events.Event], None]
    _saving: dict[str, bool] = field(default_factory=dict)

    def scout(self, sessions: Sequence[Session]) -> None:
        """Before a search: give hints to those of `sessions` for which thin builds are worth it, searching them together."""
        pairs = [(session, thin) for session in sessions if (thin := self._thin_of(session)) is not None]
        self._search(pairs)
        for session, _ in pairs:
            session.wait(for_thin=session.asked.wishes.policy.scan is None)

    def look_again(self, sessions: Sequence[Session]) -> bool:
        """After a search: where both ends agree whole, look thin for a failure that came and went, before whole builds do.

        Only where making an environment takes longer than running the cases. Gives whether there is more to search now.
        """
        waiting = [session for session in sessions if session.waits]
        for session in waiting:
            session.wait(for_thin=False)
        self._search([(session, thin) for session in waiting if (thin := self._second_look(session)) is not None])
        return any(session.asking().wants for session in waiting)

    def _second_look(self, session: Session) -> ThinSession | None:
        folders = LAID_OVER.get(canonicalize_name(session.asked.spec.package))
        if folders is None or not _is_second_look(session):
            return None
        prices, cases = session.prices(), [(case.name, 1) for case in session.asked.spec.cases]
        if prices.making(len(session.asked.builds) - 1) <= prices.run(cases):
            return None
        return _loaded(thin_session(session, folders, scan=None))

    def _search(self, pairs: Sequence[tuple[Session, ThinSession]]) -> None:
        """Search until nothing more is wanted, also of stretches that were cut on the way."""
        if any(thin.asking().wants for _, thin in pairs):
            what = "the Python files of builds on the binaries of newer ones say where whole builds are worth fetching"
            self.tell(events.Notice(f"thin builds first: {what}"))
        while going := [thin for _, thin in pairs if thin.asking().wants]:
            self.search(going)
            for thin in going:
                thin.settle()
        for session, thin in pairs:
            hand_over(thin, session)

    def _thin_of(self, session: Session) -> ThinSession | None:
        """The thin session for a question that has something to search, None where thin builds are of no use."""
        folders = LAID_OVER.get(canonicalize_name(session.asked.spec.package))
        if folders is None or not is_suited(session) or not session.asking().wants:
            return None
        thin = _loaded(thin_session(session, folders))
        if not thin.asking().wants:
            return thin
        return thin if self._saves(session, folders) else None

    def _saves(self, session: Session, folders: tuple[str, ...]) -> bool:
        """Whether thin builds save anything over the builds of a session; asked once for each newest build."""
        newest = session.asked.builds[-1]
        if newest.identity not in self._saving:
            try:
                self._saving[newest.identity] = saves(newest, cast("PartsChannel", session.asked.channel), folders)
            except (NotReadable, IndexUnreachable) as error:
                self.tell(events.Notice(f"no thin builds: {error}"))
                self._saving[newest.identity] = False
        return self._saving[newest.identity]


def _is_second_look(session: Session) -> bool:
    """Whether nothing is wanted but to look between builds that agree, and no change is known."""
    wants = session.asking().wants
    if not wants or wants.wishes or any(split.purpose is not Purpose.SCAN for split in wants.splits):
        return False
    return not session.boundaries() and not counting_hints(session.asked.question, session.known())


def _loaded(thin: ThinSession) -> ThinSession:
    """The session with what the store knows, cut where that says so."""
    thin.load()
    thin.settle()
    return thin


def saves(newest: Build, channel: PartsChannel, folders: tuple[str, ...]) -> bool:
    """Whether the newest wheel is big and little of it is Python.

    Raises `NotReadable` where the server gives no parts of files, `IndexUnreachable`.
    """
    size = newest.size or channel.current(newest).size
    if size is None or size < BIG:
        return False
    part = channel.python_part(newest, folders)
    return bool(part.checksums) and part.packed < SMALL_SHARE * size


def is_suited(session: Session) -> bool:
    """Whether the question may be searched thin at all; no request is made.

    Not for numbers (they are of the binaries as much), not for failures that come and go (they need many trials), not where
    the user asks for a scan, and not where the content of a wheel is not known by a hash or a fingerprint.
    """
    asked = session.asked
    return (
        asked.wishes.thin == "auto"
        and asked.stage.channel == CHANNEL
        and len(asked.builds) >= FEWEST
        and not asked.wishes.policy.scan
        and asked.spec.flaky != "yes"
        and asked.spec.base == "isolated"
        and not any(asked.has_metrics(case.name) for case in asked.spec.tests)
        and all(_is_identified(build) for build in asked.builds)
    )


def thin_session(session: Session, folders: tuple[str, ...], scan: int | None = 0) -> ThinSession:
    """The thin counterpart of a session, not loaded yet; with `scan` None it looks between ends that agree."""
    asked = session.asked
    policy = replace(asked.wishes.policy, thin=True, scan=scan)
    channel = ThinChannel(cast("PartsChannel", asked.channel), folders)
    thin = replace(asked, channel=channel, twins={}, weights=None, wishes=replace(asked.wishes, policy=policy))
    known = {number for number in range(len(asked.builds)) if session.is_known(number)}
    return ThinSession(thin, session.results, session.environments, Pace(), alone=frozenset(known), here=_here(session))


def _here(session: Session) -> frozenset[int]:
    """The builds whose environment is here, whole."""
    keys = (session.asked.environment_key(number) for number in range(len(session.asked.builds)))
    return frozenset(number for number, key in enumerate(keys) if session.environments.is_ready(key))


def hand_over(thin: ThinSession, session: Session) -> None:
    """Give a session what the thin one has learned: of whole builds everything, of thin ones the hints."""
    for build, now in zip(session.asked.builds, thin.builds, strict=True):
        if build.identity != now.identity:
            session.replace(build, now)
    for case, number, trial in thin.whole_trials:
        if trial.folder not in session.taken:
            session.take(case, number, trial)
            session.trials_made += 1
    session.healths |= thin.whole_healths()
    session.installed |= thin.made_whole()
    for number, reason in thin.dead.items():
        if not session.stand_in(number, reason):
            session.broken[number] = reason
    hints = thin.found_hints()
    look = ThinLook(
        builds=tuple(sorted({number for _, number in hints} | set(thin.thin_builds()))),
        trials=thin.thin_trials(),
        bases=tuple(sorted({hint.base for hint in hints.values()})),
        failures=dict(thin.failures),
        not_valid=dict(thin.not_valid),
    )
    session.take_hints(hints, look)


def _is_identified(build: Build) -> bool:
    return bool(build.sha256 or build.fingerprint)
