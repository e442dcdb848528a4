"""Files that were replaced under the same name: what was learned about the old content says nothing about the new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bisect_tool.builds.build import Build
from bisect_tool.reports import events
from bisect_tool.runs.session import Session


@dataclass(slots=True)
class Renewal:
    """Asks the place of a build, once in a run, whether its file is still the one that the listing named."""

    sessions: Sequence[Session]
    tell: Callable[[events.Event], None]
    _asked: dict[str, Build] = field(default_factory=dict)

    def renew(self, session: Session, number: int) -> bool:
        """Take over what the place has now, in every session; True when the file was replaced.

        Raises `IndexUnreachable`.
        """
        build = session.asked.builds[number]
        if build.identity in self._asked:
            return False
        now = session.asked.channel.current(build)
        self._asked[build.identity] = self._asked[now.identity] = now
        if now.identity == build.identity:
            return False
        if session.asked.recent is not None:
            session.asked.recent.forget()
        self.tell(events.Notice(f"{build.version} was replaced on the index: what was known of it is not used"))
        for other in self.sessions:
            other.replace(build, now)
        return True

    def renew_ends(self) -> bool:
        """The same for the builds that the answers rest on; True when one of them was replaced.

        When none was, the search is over: the next run of the same question may take it over for a while.
        """
        changed = False
        for session in self.sessions:
            if session.fault is not None:
                continue
            for number in sorted({build for pair in session.boundaries() for build in pair}):
                changed = self.renew(session, number) or changed
        if not changed:
            self._remember()
        return changed

    def _remember(self) -> None:
        for session in self.sessions:
            recent = session.asked.recent
            # A listing in which a file was replaced is asked for anew.
            if recent is not None and not session.replaced:
                recent.remember()
