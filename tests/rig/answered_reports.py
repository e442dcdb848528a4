"""Reports as runs leave them in the store, of failures that trials showed."""

from __future__ import annotations

from typing import Any

from bisect_tool.reports.report import (
    Appeared,
    CasePart,
    Counts,
    Entry,
    Episode,
    Failure,
    Fixed,
    Machine,
    Outcome,
    Range,
    Report,
    SpecPart,
)
from bisect_tool.runs.judging import verdict_of
from bisect_tool.runs.report_words import name_for, signature_part
from bisect_tool.store.results import Results
from bisect_tool.trials.failure import Failed, FoundFailure
from bisect_tool.trials.observation import Observation

BUILDS = ("2.10.0", "2.11.0", "2.12.0", "2.13.0")


def shown_by(output: str, **more: Any) -> FoundFailure:
    """The failure that a trial with this output shows."""
    verdict = verdict_of(Observation(1, output=output, **more), ())
    assert isinstance(verdict, Failed)
    return verdict.failures[0]


def report_of(
    *shown: FoundFailure,
    name: str = "a-spec",
    title: str = "",
    issue: str | None = None,
    package: str = "torch",
    repro: str = "a" * 64,
    device: str = "cpu",
    outcome: Outcome = "exact",
    since: int = 2,
    asked_from: str | None = "2.10",
) -> Report:
    """A report of release builds, in which every failure of the case `main` appeared in build number `since`."""
    entries = tuple(
        Entry(build=build, state="failing" if at >= since and shown else "pass") for at, build in enumerate(BUILDS)
    )
    episode = Episode(
        appeared=Appeared(kind="exact", last_without=BUILDS[since - 1], first_with=BUILDS[since], verified=True),
        fixed=Fixed(kind="open", last_with=BUILDS[-1], first_without=None),
    )
    failures = tuple(
        Failure(
            id=f"{name_for(one)}-{one.id[:6]}",
            name=name_for(one),
            case="main",
            signature=signature_part(one),
            episodes=(episode,),
        )
        for one in shown
    )
    return Report(
        outcome=outcome,
        summary=(f"{name}: {len(failures)} failures.",),
        spec=SpecPart(name=name, title=title, issue=issue, package=package, digest=repro),
        channel="release",
        source="the package index",
        range=Range(asked_from=asked_from, asked_to=None, first=BUILDS[0], last=BUILDS[-1]),
        cases=(CasePart(name="main", role="test", command="python repro.py", timeline=entries),),
        failures=failures,
        counts=Counts(builds_considered=4, builds_installed=4, trials=8),
        elapsed_s=1.0,
        environment=Machine(platform="Linux", python="cpython-3.11.7-x86_64", device=device),
        repeat=f"bisect run {name}",
        started="2026-11-30T10:00:00+00:00",
    )


def keep(results: Results, run: str, report: Report) -> None:
    """Store a report as the end of a run does."""
    spec = report.spec
    results.start_run(run, spec=spec.name, repro=spec.digest, package=spec.package)
    results.end_run(run, report.outcome, report.model_dump(mode="json"))
