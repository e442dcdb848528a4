"""What a run would take: builds, steps, downloads, time and disk, before anything is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from bisect_tool.environments import room
from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports.sentences import plural
from bisect_tool.runs.asking import Asked, ask
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.model import Case
from bisect_tool.spec.reading import ReadSpec

# Used until something was measured here; from runs on a 2-core machine with 30 MB/s (docs/benchmarks.md).
BYTES_A_SECOND = 30e6
TRIAL_SECONDS = 15.0  # of torch: most of it is importing and compiling
SMALL_SECONDS = 1.0  # of a package that is next to nothing to import


@dataclass(frozen=True, slots=True)
class Estimate:
    """`steps` builds are still to be tested of `builds`; sizes in bytes, times in seconds, all of them rough."""

    spec: str
    channel: str
    builds: int
    first: str
    last: str
    notes: tuple[str, ...]
    steps: int
    to_install: int
    download: int | None
    disk: int | None
    seconds: float
    cases: int

    def lines(self) -> list[str]:
        """The estimate for people."""
        size = "size unknown" if self.download is None else f"about {format_size(self.download)}"
        disk = "unknown" if self.disk is None else f"about {format_size(self.disk)}"
        if self.steps == 0:
            work = ["  known already: nothing is to be run"]
        else:
            work = [
                f"  steps:     about {plural(self.steps, 'build')}, {plural(self.cases, 'case')} each",
                f"  downloads: {plural(self.to_install, 'build')}, {size}, and what each of them requires",
                f"  disk:      {disk}",
                f"  time:      about {format_duration(self.seconds)}",
            ]
        notes = [f"  note:      {note}" for note in self.notes]
        return [
            f"plan of {self.spec}:",
            f"  builds:    {self.builds} from {self.first} to {self.last}, channel {self.channel}",
            *notes,
            *work,
        ]


def estimate_specs(workshop: Workshop, specs: Sequence[ReadSpec], wishes: Wishes) -> list[Estimate]:
    """An estimate for each spec.

    Raises what `ask` raises.
    """
    results, means = workshop.results(), workshop.means(refresh=wishes.refresh)
    try:
        sessions = [Session(ask(spec, wishes, means), results, workshop.environments()) for spec in specs]
        for session in sessions:
            session.load()
        return [estimate_of(session) for session in sessions]
    finally:
        results.close()


def estimate_of(session: Session) -> Estimate:
    """An estimate for a question that was loaded."""
    asked = session.asked
    steps = session.plan().steps_left
    ready = len(session.known().ready)
    to_install = max(0, min(steps, len(asked.builds) - ready))
    sizes = [build.size for build in asked.builds if build.size is not None]
    mean = fmean(sizes) if sizes else None
    seconds = [_seconds(session, case, mean) for case in asked.spec.cases]
    cases = len(asked.spec.cases)
    verify = 2 * asked.policy.repeats if steps else 0
    download = None if mean is None else round(mean * to_install)
    return Estimate(
        spec=asked.spec.name,
        channel=f"{asked.stage.channel} ({asked.channel.source_address()})",
        builds=len(asked.builds),
        first=_described(asked, 0),
        last=_described(asked, -1),
        notes=asked.selection.notes,
        steps=steps,
        to_install=to_install,
        download=download,
        disk=None if download is None else download * room.UNPACKED,
        seconds=(download or 0) * 2 / BYTES_A_SECOND + steps * sum(seconds) + verify * max(seconds),
        cases=cases,
    )


def _seconds(session: Session, case: Case, size: float | None) -> float:
    """What one trial of a case takes: the mean so far, else what is usual for wheels of that `size` in bytes.

    A comparison of numbers is many processes.
    """
    measured = [trial.duration for (name, _), trials in session.seen.items() if name == case.name for trial in trials]
    if measured:
        return fmean(measured)
    sizes = [metric.trials.least + metric.trials.warm_up for metric in session.asked.spec.metrics_of(case)]
    return usual_seconds(size) * (2 * max(sizes) if sizes else 1)


def usual_seconds(size: float | None) -> float:
    """What a trial usually takes with a build whose wheel has `size` bytes: a large one takes its time to import."""
    return TRIAL_SECONDS if size is None else min(TRIAL_SECONDS, SMALL_SECONDS + size / BYTES_A_SECOND)


def _described(asked: Asked, number: int) -> str:
    build = asked.builds[number]
    return f"{build.version} ({build.date:%Y-%m-%d})" if build.date else build.version
