"""A whole run: specs in, reports out. Everything in between is in the other files of this room."""

from __future__ import annotations

import shlex
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bisect_tool.builds.channel import Access
from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import Environments
from bisect_tool.environments.locks import exclusive
from bisect_tool.environments.uv import Uv, find_uv
from bisect_tool.errors import Answered, BisectError, interrupted
from bisect_tool.reports import events
from bisect_tool.reports.report import Report
from bisect_tool.runs.asking import Asked, Wishes, ask
from bisect_tool.runs.loop import Loop
from bisect_tool.runs.reporting import Circumstances, make_report
from bisect_tool.runs.session import Session
from bisect_tool.settings import Settings
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.store.results import Results, open_results


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every run needs, opened once."""

    settings: Settings
    cache: CacheFolder
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)

    @property
    def access(self) -> Access:
        """Where channels may look."""
        return Access(self.settings.index, self.settings.wheelhouse, self.cache.pages, self.settings.nightly_index)

    def results(self) -> Results:
        """The results database, opened."""
        return open_results(self.cache.database, lambda: exclusive(self.cache.locks / "database.lock"))

    def environments(self) -> Environments:
        """The environments of the cache."""
        return Environments(self.cache, self.uv, self.environ, self.settings.max_cache)


def open_workshop(settings: Settings, environ: Mapping[str, str]) -> Workshop:
    """Open the cache and find uv.

    Raises `CacheNotWritable`, `CacheTooNew`, `DiskFull`, `UvMissing`.
    """
    cache = open_cache(settings.cache)
    return Workshop(settings, cache, find_uv(cache.uv, environ), environ)


class Stopped(Exception):
    """A run was cut short by `error`; `reports` tell what is known so far."""

    def __init__(self, error: BisectError, reports: tuple[Report, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.reports = reports


def run_specs(
    workshop: Workshop, specs: Sequence[ReadSpec], wishes: Wishes, tell: Callable[[events.Event], None]
) -> tuple[Report, ...]:
    """Answer all specs, sharing every installed build; gives their reports in the same order.

    Raises `Stopped` when the machine or the user ends it before the answers are complete; a `BisectError` when it cannot
    even begin.
    """
    asked = [ask(spec, wishes, workshop.access, workshop.uv, workshop.environ) for spec in specs]
    results = workshop.results()
    try:
        return _run(workshop, results, asked, tell)
    finally:
        results.close()


def _run(
    workshop: Workshop, results: Results, asked: Sequence[Asked], tell: Callable[[events.Event], None]
) -> tuple[Report, ...]:
    started, clock = datetime.now(UTC), time.monotonic()
    environments = workshop.environments()
    sessions = [Session(one, results, environments) for one in asked]
    names = [uuid.uuid4().hex for _ in sessions]
    for name, session in zip(names, sessions, strict=True):
        session.load()
        spec = session.asked.read.spec
        results.start_run(name, spec=spec.name, repro=session.asked.repro.digest, package=spec.package)
        tell(_started(session))
    known = [len(session.taken) for session in sessions]
    uv = workshop.uv.version()

    def reports(*, unfinished: bool) -> tuple[Report, ...]:
        made = [
            make_report(
                session,
                Circumstances(
                    started=started,
                    elapsed=time.monotonic() - clock,
                    cache=str(workshop.cache.root),
                    uv=uv,
                    repeat=repeat_command(session.asked),
                    trials_known=before,
                    unfinished=unfinished,
                ),
            )
            for session, before in zip(sessions, known, strict=True)
        ]
        for name, report in zip(names, made, strict=True):
            results.end_run(name, report.outcome, report.model_dump(mode="json"))
            tell(events.RunFinished(report.outcome))
        return tuple(made)

    loop = Loop(sessions, workshop.cache, results, environments, workshop.environ, tell)
    try:
        loop.run()
    except BisectError as error:
        raise Stopped(error, reports(unfinished=True)) from error
    except KeyboardInterrupt as stop:
        raise Stopped(interrupted(), reports(unfinished=True)) from stop
    return reports(unfinished=False)


def _started(session: Session) -> events.RunStarted:
    asked = session.asked
    return events.RunStarted(
        spec=asked.read.spec.title or asked.read.spec.name,
        package=asked.read.spec.package,
        builds=tuple(build.version for build in asked.builds),
        cases=tuple((case.name, case.role.value) for case in asked.read.spec.cases),
        device=asked.device.kind,
        steps_left=session.plan().steps_left,
    )


def repeat_command(asked: Asked) -> str:
    """The command that asks the same question again, with the bounds that this run found."""
    spec = asked.read.spec
    words = ["bisect", "run", str(asked.read.path), "--channel", spec.channel[0], "--device", asked.device.name]
    if not asked.selection.open_start:
        words += ["--from", asked.builds[0].version]
    words += ["--to", asked.builds[-1].version]
    words += [flag for flag, is_set in (("--pre", asked.wishes.pre), ("--yanked", asked.wishes.yanked)) if is_set]
    return shlex.join(words)


def exit_status(reports: Sequence[Report]) -> Answered:
    """One status for all reports: the least certain of them."""
    order = {
        "exact": Answered.EXACT,
        "no change": Answered.NO_CHANGE,
        "narrowed": Answered.NARROWED,
        "not judged": Answered.NOT_JUDGED,
        "unfinished": Answered.NOT_JUDGED,
    }
    ranks = (Answered.EXACT, Answered.NO_CHANGE, Answered.NARROWED, Answered.NOT_JUDGED)
    return max((order[report.outcome] for report in reports), key=ranks.index, default=Answered.EXACT)
