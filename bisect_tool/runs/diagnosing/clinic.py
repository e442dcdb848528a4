"""`bisect diagnose` and `bisect run --diagnose`: the changes of a session, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.reports import events
from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.runs.diagnosing.bench import Bench
from bisect_tool.runs.diagnosing.changes import Change, changes_of
from bisect_tool.runs.diagnosing.evidence import Evidence
from bisect_tool.runs.diagnosing.scene import Scene
from bisect_tool.runs.diagnosing.visit import Visit
from bisect_tool.runs.session import Session


@dataclass(frozen=True, slots=True)
class Clinic:
    """Diagnoses the changes of `session`. `environ` is what processes may inherit of, `jobs` how many trials run at once."""

    session: Session
    cache: CacheFolder
    environ: Mapping[str, str] = field(repr=False)
    tell: Callable[[events.Event], None]
    jobs: int = 1

    def diagnose(self) -> Iterator[Diagnosis]:
        """A diagnosis of every change whose two environments can be opened and have torch, each when it is made.

        Raises a `BisectError` when the machine gets in the way.
        """
        for change in changes_of(self.session):
            if (found := self._diagnose(change)) is not None:
                yield found

    def _diagnose(self, change: Change) -> Diagnosis | None:
        with ExitStack() as stack:
            try:
                opened = {
                    number: stack.enter_context(self.session.environment(number))
                    for number in (change.with_, change.without)
                }
            except BuildUnusable as error:
                self.tell(events.Notice(f"not diagnosed: {error}"))
                return None
            if "torch" not in dict(opened[change.with_].health.packages):
                return None
            folder = (
                self.cache.trials / f"diagnosis-{self.session.trial_key(change.case, change.with_)}-{_plain(change)}"
            )
            bench = Bench(self.session, self.cache, self.environ, self.tell, folder, self.jobs)
            waits = events.Waiting(
                self.session.asked.builds[change.with_].version, "another run makes the same diagnosis"
            )
            stack.enter_context(locks.exclusive(self.cache.locks / f"{folder.name}.lock", lambda: self.tell(waits)))
            return Visit(Scene(bench, Evidence(folder), change, opened)).diagnosis()


def _plain(change: Change) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", change.failure).strip("-")[:40]
