"""The answer as a reader needs it: each failure with both ends of its episodes, everything about an end in one place.

The formats turn these values into text, so that all of them say the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bisect_tool.reports import sentences, timeline
from bisect_tool.reports.commit_lines import ShownCommits, show_commits, web_address
from bisect_tool.reports.report import (
    Appeared,
    Boundary,
    Difference,
    Entry,
    Episode,
    Failure,
    Fixed,
    Hole,
    Kind,
    Report,
)

FIRST_TO_NAME = ("triton", "pytorch-triton", "nvidia", "cuda", "cudnn", "nccl", "driver", "numpy")


@dataclass(frozen=True, slots=True)
class Side:
    """One build at an end. `label` says on which side of the change; `note` how often it failed, when it is flaky."""

    label: str
    build: str
    date: str | None
    revision: str | None
    note: str = ""
    log: str | None = None


@dataclass(frozen=True, slots=True)
class HoleGroup:
    """Builds inside an end that could not be tested for the same reason; `told` is what is said of them."""

    reason: str
    builds: tuple[str, ...]
    tried: bool
    thin: bool = False

    @property
    def told(self) -> str:
        """The reason, or that there was no try."""
        return self.reason if self.tried or self.thin else "not tried"


@dataclass(frozen=True, slots=True)
class End:
    """The beginning or the end of an episode. `sure` says how sure, `hides` which failure may hide this one."""

    headline: str
    kind: Kind
    sure: str
    sides: tuple[Side, ...]
    holes: tuple[HoleGroup, ...]
    hides: str
    compare: str | None
    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]
    commits: ShownCommits | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure, its letter in the timelines, one sentence that answers, and the ends of its episodes in order."""

    letter: str
    failure: Failure
    sentence: str
    ends: tuple[End, ...]


def findings(report: Report) -> tuple[Finding, ...]:
    """Every failure of `report`, in its order."""
    letters = timeline.letters(report)
    return tuple(
        Finding(
            letter=letters[failure.id],
            failure=failure,
            sentence=sentences.of_failure(failure, report),
            ends=tuple(end for episode in failure.episodes for end in _ends(episode, failure, report)),
        )
        for failure in report.failures
    )


def summary(report: Report) -> tuple[str, ...]:
    """The sentences that the report was given, else those that follow from it."""
    return report.summary or sentences.summarize(report)


def with_summary(report: Report) -> Report:
    """`report`, its summary made of what it found."""
    return report.model_copy(update={"summary": sentences.summarize(report)})


def order_differences(differences: Iterable[Difference], package: str) -> tuple[Difference, ...]:
    """What most often explains a change comes first; the package under test itself is no difference."""
    kept = [
        difference.model_copy(update={"compare": web_address(difference.compare)})
        for difference in differences
        if difference.name != package
    ]
    return tuple(sorted(kept, key=lambda difference: (_rank(difference.name), difference.name)))


def group_holes(holes: Iterable[Hole]) -> tuple[HoleGroup, ...]:
    """Builds of the same reason together, in the order of the first of each."""
    groups: dict[tuple[str, bool, bool], list[str]] = {}
    for hole in holes:
        groups.setdefault((hole.reason, hole.tried, hole.thin), []).append(hole.build)
    return tuple(HoleGroup(reason, tuple(builds), tried, thin) for (reason, tried, thin), builds in groups.items())


def _rank(name: str) -> int:
    low = name.lower()
    return next((i for i, start in enumerate(FIRST_TO_NAME) if low.startswith(start)), len(FIRST_TO_NAME))


def _ends(episode: Episode, failure: Failure, report: Report) -> tuple[End, End]:
    appeared, fixed = episode.appeared, episode.fixed
    beginning = _end(
        appeared,
        sentences.began(appeared, report),
        (("without", appeared.last_without), ("with", appeared.first_with)),
        hides=sentences.hidden_before(appeared, report),
        case=failure.case,
        report=report,
    )
    ending = _end(
        fixed,
        sentences.ended(fixed, report),
        (("with", fixed.last_with), ("without", fixed.first_without)),
        hides=sentences.hidden_after(fixed, report),
        case=failure.case,
        report=report,
    )
    return beginning, ending


def _end(
    end: Appeared | Fixed,
    headline: str,
    labels: tuple[tuple[str, str | None], tuple[str, str | None]],
    *,
    hides: str,
    case: str,
    report: Report,
) -> End:
    boundary = sentences.boundary(labels[0][1], labels[1][1], report)
    entries = _entries(case, report)
    reasons = {build: entries[build].reason if build in entries else None for build in end.untestable}
    holes = end.holes or tuple(
        Hole(build=build, reason=reason or "no reason known") for build, reason in reasons.items()
    )
    return End(
        headline=headline,
        kind=end.kind,
        sure=sentences.how_sure(end),
        sides=_sides(labels, entries, boundary),
        holes=group_holes(holes),
        hides=hides,
        compare=web_address(end.compare),
        differences=order_differences(boundary.differences, report.spec.package) if boundary else (),
        left_out=end.left_out,
        commits=show_commits(boundary.commits, end.suspicion) if boundary and boundary.commits else None,
    )


def _entries(case: str, report: Report) -> dict[str, Entry]:
    return {entry.build: entry for part in report.cases if part.name == case for entry in part.timeline}


def _sides(
    labels: tuple[tuple[str, str | None], tuple[str, str | None]],
    entries: dict[str, Entry],
    boundary: Boundary | None,
) -> tuple[Side, ...]:
    revisions = {boundary.before: boundary.revision_before, boundary.after: boundary.revision_after} if boundary else {}
    dates = [entries[build].date for _, build in labels if build in entries]
    precise = len(dates) > 1 and len({date[:10] for date in dates if date}) == 1
    return tuple(
        Side(
            label=label,
            build=build,
            date=sentences.when(entries[build].date, precise=precise) if build in entries else None,
            revision=(revisions.get(build) or "")[:12] or None,
            note=sentences.how_often(entries[build]) if build in entries else "",
            log=entries[build].log if build in entries else None,
        )
        for label, build in labels
        if build is not None
    )
