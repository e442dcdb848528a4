"""What is run again of an old answer, and what the new trials say of it. Pure.

Of every change both sides are run again, of an answer without a change both ends of the range. Trials of the answer itself do
not count again; nor does a memory of builds that could not be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from bisect_tool.reports.report import CasePart, Entry, Episode, Failure, Report
from bisect_tool.reports.timeline import ids

JUDGED = frozenset({"pass", "failing", "flaky"})


class Kind(StrEnum):
    """What is claimed: a change between neighbours, one with a hole, one of a failure that comes and goes; or no change."""

    EXACT = "exact"
    NARROWED = "narrowed"
    FLAKY = "flaky"
    NO_CHANGE = "no change"


class Verdict(StrEnum):
    """What the new trials say. `REPLACED`: they differ, but of another file under the same name than those of the answer."""

    SAME = "same"
    DIFFERS = "differs"
    NO_ANSWER = "no answer"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Claim:
    """Two builds of which an answer says that a case shows `failure` on the one and not on the other; None: both are alike.

    `with_` is the build that has it, `without` the other; of no change they are the first and the last judged build.
    """

    case: str
    failure: str | None
    name: str
    kind: Kind
    without: str
    with_: str

    @property
    def builds(self) -> tuple[str, str]:
        """Both."""
        return self.without, self.with_


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim that was run again: `note` says what was seen instead, or why nobody can tell."""

    case: str
    name: str
    kind: Kind
    without: str
    with_: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recheck:
    """All claims of an answer that were run again. `replaced` are the builds that have another file now."""

    verdict: Verdict
    checks: tuple[Checked, ...]
    replaced: tuple[str, ...] = ()

    def as_values(self) -> dict[str, object]:
        """Plain values, for the database."""
        return {
            "verdict": self.verdict,
            "checks": [asdict(one) for one in self.checks],
            "replaced": list(self.replaced),
        }

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Recheck:
        """The inverse of `as_values`."""
        return cls(Verdict(values["verdict"]), checked_from(values), tuple(values["replaced"]))


def checked_from(values: Mapping[str, Any] | None) -> tuple[Checked, ...]:
    """The checks of `Recheck.as_values`."""
    checks = (values or {}).get("checks", ())
    return tuple(Checked(**{**one, "kind": Kind(one["kind"]), "verdict": Verdict(one["verdict"])}) for one in checks)


def claims_of(report: Report) -> tuple[Claim, ...]:
    """What an answer claims of pairs of builds, each claim once; empty when it says nothing that could be run again."""
    claims = [claim for failure in report.failures for one in failure.episodes for claim in _ends(report, failure, one)]
    if not claims and report.outcome == "no change":
        claims = [claim for case in report.cases if case.role == "test" for claim in _unchanged(case)]
    return tuple(dict.fromkeys(claims))


def builds_of(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Every build of the claims, each once."""
    return tuple(dict.fromkeys(build for claim in claims for build in claim.builds))


def recheck(old: Report, new: Report | None, replaced: Sequence[str] = ()) -> Recheck:
    """Compare an answer with a report over its builds alone; `new` is None where there was none.

    `replaced` are the builds whose file is another one now than that of the trials of the old answer.
    """
    claims = claims_of(old)
    checks = tuple(_check(claim, old, new, frozenset(replaced)) for claim in claims)
    verdicts = {one.verdict for one in checks}
    order = (Verdict.DIFFERS, Verdict.REPLACED, Verdict.NO_ANSWER, Verdict.SAME)
    verdict = next((one for one in order if one in verdicts), Verdict.NO_ANSWER)
    return Recheck(verdict, checks, tuple(one for one in replaced if one in builds_of(claims)))


def _ends(report: Report, failure: Failure, episode: Episode) -> Iterator[Claim]:
    begin, end = episode.appeared, episode.fixed
    pairs = (
        (begin.kind, begin.last_without, begin.first_with),
        (end.kind, end.first_without, end.last_with),
    )
    for kind, without, with_ in pairs:
        if kind != "open" and without is not None:
            entries = (_entry(report, failure.case, build) for build in (without, with_))
            is_flaky = any(one is not None and one.state == "flaky" for one in entries)
            sure = Kind.FLAKY if is_flaky else Kind(kind)
            yield Claim(failure.case, failure.id, failure.name, sure, without, with_)


def _unchanged(case: CasePart) -> Iterator[Claim]:
    judged = [entry for entry in case.timeline if entry.state in JUDGED]
    if len(judged) > 1 and {entry.state for entry in judged} <= {"pass", "failing"}:
        yield Claim(case.name, None, "no change", Kind.NO_CHANGE, judged[0].build, judged[-1].build)


def _check(claim: Claim, old: Report, new: Report | None, replaced: frozenset[str]) -> Checked:
    verdict, note = _verdict(claim, old, new)
    others = [build for build in claim.builds if build in replaced]
    if verdict is Verdict.DIFFERS and others:
        verdict, note = Verdict.REPLACED, f"{note}; {', '.join(others)} has another file now than when it was answered"
    return Checked(claim.case, claim.name, claim.kind, claim.without, claim.with_, verdict, note)


def _verdict(claim: Claim, old: Report, new: Report | None) -> tuple[Verdict, str]:
    if new is None:
        return Verdict.NO_ANSWER, "the builds could not be run again"
    fresh = {build: _entry(new, claim.case, build) for build in claim.builds}
    for build, entry in fresh.items():
        if entry is None or entry.state not in JUDGED:
            why = entry.reason if entry is not None and entry.reason else "it was not judged"
            return Verdict.NO_ANSWER, f"{build}: {why}"
    seen = {build: entry for build, entry in fresh.items() if entry is not None}
    if claim.kind is Kind.FLAKY:
        return _flaky(claim, old, seen)
    for build, entry in seen.items():
        before = _entry(old, claim.case, build)
        if before is not None and _face(before) != _face(entry):
            return Verdict.DIFFERS, f"{build}: {_told(entry)}, the answer rests on {_told(before)}"
    return Verdict.SAME, ""


def _flaky(claim: Claim, old: Report, seen: Mapping[str, Entry]) -> tuple[Verdict, str]:
    """Of a failure that comes and goes: a few trials without it say nothing, one with it where it must not be does."""
    before = _entry(old, claim.case, claim.without)
    was_clean = before is not None and claim.failure not in ids(before)
    if was_clean and claim.failure in ids(seen[claim.without]):
        return Verdict.DIFFERS, f"{claim.without}: {_told(seen[claim.without])}, the answer says it is without"
    if claim.failure not in ids(seen[claim.with_]):
        trials = seen[claim.with_].trials
        return Verdict.NO_ANSWER, f"{claim.with_}: not shown in {trials} trials, which may be luck"
    if not was_clean:
        return Verdict.NO_ANSWER, "both sides show it, at other rates: a few trials do not tell them apart"
    return Verdict.SAME, ""


def _entry(report: Report, case: str, build: str) -> Entry | None:
    timeline = next((one.timeline for one in report.cases if one.name == case), ())
    return next((entry for entry in timeline if entry.build == build), None)


def _face(entry: Entry) -> tuple[bool, frozenset[str]]:
    """What a build shows of a case; that it comes and goes is another face than that it is always there."""
    return entry.state == "flaky", frozenset(ids(entry))


def _told(entry: Entry) -> str:
    shown = ", ".join(ids(entry))
    return f"{entry.state}{f' ({shown})' if shown else ''}"
