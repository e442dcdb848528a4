"""The trials of one case on one build, as their page shows them. Pure."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.report import Entry, Report
from bisect_tool.service.evidence import FailureShown, Trial
from bisect_tool.service.pages import chips
from bisect_tool.service.pages.chips import Chip
from bisect_tool.service.question import Question

MOST_OUTPUT = 60_000  # characters of one trial on the page; the whole is a link

_STATES = {
    "pass": Chip("✓", "pass", "good"),
    "failing": Chip("✗", "failing", "bad"),
    "untestable": Chip("?", "cannot judge", "plain"),
    "machine": Chip("!", "the machine's fault", "unsure"),
}


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """One trial; `log` is the address of its whole log, None where this server does not have it."""

    chip: Chip
    finished: str
    facts: tuple[tuple[str, str], ...]
    command: str
    failures: tuple[FailureShown, ...]
    output: str
    log: str | None


@dataclass(frozen=True, slots=True)
class TrialPage:
    """What the page shows; `chip` is the state of the case on this build in the last report."""

    id: str
    title: str
    case: str
    build: str
    package: str
    date: str
    chip: Chip | None
    reason: str
    trials: tuple[ShownTrial, ...]
    environment: tuple[tuple[str, str], ...]
    packages: tuple[tuple[str, str], ...]


def trial_page(question: Question, case: str, build: str, trials: Sequence[Trial], report: Report | None) -> TrialPage:
    """The page of a case on a build."""
    entry = _entry(report, case, build)
    environment = next((trial.environment for trial in reversed(trials) if trial.environment), None)
    return TrialPage(
        id=question.id,
        title=one_line(clean(question.title or question.name), 200),
        case=case,
        build=build,
        package=question.package,
        date=(entry.date or "")[:10] if entry else "",
        chip=chips.of_state(entry.state) if entry else None,
        reason=(entry.reason or "") if entry else "",
        trials=tuple(_trial(question, trial) for trial in trials),
        environment=tuple(_facts(environment or {})),
        packages=tuple(sorted(_packages(environment or {}))),
    )


def _entry(report: Report | None, case: str, build: str) -> Entry | None:
    entries = (entry for part in (report.cases if report else ()) if part.name == case for entry in part.timeline)
    return next((entry for entry in entries if entry.build == build), None)


def _trial(question: Question, trial: Trial) -> ShownTrial:
    return ShownTrial(
        chip=_STATES.get(trial.state, Chip("?", trial.state, "plain")),
        finished=trial.finished[:19].replace("T", " "),
        facts=tuple((label, clean(text)) for label, text in _ending(trial)),
        command=clean(trial.command),
        failures=trial.failures,
        output=_shortened(clean(trial.output)),
        log=f"/q/{question.id}/logs/{trial.number}" if trial.log_here else None,
    )


def _ending(trial: Trial) -> Iterator[tuple[str, str]]:
    if trial.timed_out:
        yield "Ended", f"by the tool, out of time after {format_duration(trial.seconds)}"
    elif trial.signal is not None:
        yield "Ended", f"by {_signal(trial.signal)} after {format_duration(trial.seconds)}"
    else:
        yield "Ended", f"exit status {trial.exit_status} after {format_duration(trial.seconds)}"
    if trial.reason:
        yield "Because", trial.reason
    if trial.peak_memory:
        yield "Memory", f"{format_size(trial.peak_memory)} at most"
    yield "Device", trial.device
    if trial.log and not trial.log_here:
        yield "Log", f"{trial.log} (kept where this server does not read)"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shortened(text: str) -> str:
    if len(text) <= MOST_OUTPUT:
        return text
    half = MOST_OUTPUT // 2
    return f"{text[:half]}\n[… {len(text) - MOST_OUTPUT} characters left out …]\n{text[-half:]}"


def _facts(health: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the environment says of itself (`environments.health.Health`), but for the list of its packages."""
    facts = health.get("facts")
    more = facts if isinstance(facts, Mapping) else {}
    for name, value in {**health, **more}.items():
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
            yield str(name).replace("_", " "), one_line(clean(str(value)), 300)


def _packages(health: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    packages = health.get("packages")
    if isinstance(packages, Mapping):
        for name, version in packages.items():
            yield clean(str(name)), clean(str(version))
