"""What the report says in words: since when, until when, how sure. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import assert_never

from bisect_tool.reports import timeline
from bisect_tool.reports.cleaning import one_line
from bisect_tool.reports.commit_lines import look_first
from bisect_tool.reports.rates import RateStudy, described, share
from bisect_tool.reports.report import Appeared, Boundary, CasePart, Entry, Episode, Failure, Fixed, Report

MOST_HOLES = 3  # builds that are named when nothing changes


def summarize(report: Report) -> tuple[str, ...]:
    """The answer in sentences, one for each failure, then what limits it."""
    told: set[tuple[str, str, str]] = set()
    found = tuple(
        text for failure in report.failures for text in (of_failure(failure, report), *_look(failure, report, told))
    )
    match report.outcome:
        case "exact" | "narrowed":
            return found
        case "no change":
            return found or _nothing_changed(report)
        case "not judged":
            return (_not_judged(report), *found)
        case "unfinished":
            return ("The run stopped before the search had ended. What is known so far:", *(found or _counted(report)))
        case _:
            assert_never(report.outcome)


def of_failure(failure: Failure, report: Report) -> str:
    """One sentence: `zero-grad` appeared in A and was fixed in B."""
    told = "; it ".join(_of_episode(episode, report) for episode in failure.episodes)
    where = f" (case {failure.case})" if len([case for case in report.cases if case.role == "test"]) > 1 else ""
    steady = "".join(f" {_steady(study)}" for study in failure.studies if study.verdict == "no reliable change")
    return f"{failure.name}{where} {told or 'was seen, but its beginning and end are not known'}.{steady}"


def boundary(before: str | None, after: str | None, report: Report) -> Boundary | None:
    """The boundary between two builds."""
    return next((item for item in report.boundaries if (item.before, item.after) == (before, after)), None)


def _look(failure: Failure, report: Report, told: set[tuple[str, str, str]]) -> Iterator[str]:
    """For each change of a failure, the commit to look at first, as far as one is known and was not `told` already.

    A failure that changed into another one, and one that several cases show, have a change in common.
    """
    for end in (end for episode in failure.episodes for end in (episode.appeared, episode.fixed)):
        at = boundary(*_sides(end), report)
        look = look_first(at, end.suspicion) if at is not None else None
        if at is None or look is None or (key := (at.before, at.after, look.sha)) in told:
            continue
        told.add(key)
        yield look.text


def _sides(end: Appeared | Fixed) -> tuple[str | None, str | None]:
    return (end.last_without, end.first_with) if isinstance(end, Appeared) else (end.last_with, end.first_without)


def _steady(study: RateStudy) -> str:
    """No change that can be relied on, with the rates that say so."""
    if study.older is None or study.newer is None:
        return "Its rate has no change that can be relied on."
    ends = f"{described(study.older)} of {study.first} and {described(study.newer)} of {study.last}"
    return f"It comes and goes, and its rate has no change that can be relied on: {ends}."


def began(appeared: Appeared, report: Report) -> str:
    """`appeared in 2.13.0`, or as much of it as is known."""
    if appeared.same_code:
        return (
            f"shows in {appeared.first_with} and not in {appeared.last_without}, which {_one_code(appeared.same_code)}"
        )
    match appeared.kind:
        case "exact":
            verb = "shows more often from {} on" if appeared.is_rate else "appeared in {}"
            return verb.format(appeared.first_with)
        case "narrowed" if appeared.is_rate:
            return f"shows more often since some build between {appeared.last_without} and {appeared.first_with}"
        case "narrowed":
            return f"appeared between {appeared.last_without} and {appeared.first_with}"
        case "open":
            if any(hole.thin for hole in appeared.holes):
                return f"was already there in {appeared.first_with}, the oldest that was looked at whole"
            edge = "the first build of the range" if appeared.first_with == report.range.first else "the first that"
            more = "" if appeared.first_with == report.range.first else " could be tested"
            return f"was already there in {appeared.first_with}, {edge}{more}"
        case _:
            assert_never(appeared.kind)


def ended(fixed: Fixed, report: Report) -> str:
    """`was fixed in 2.15.0`, or as much of it as is known."""
    if fixed.same_code:
        return f"shows in {fixed.last_with} and not in {fixed.first_without}, which {_one_code(fixed.same_code)}"
    gone = "changed into another failure" if fixed.changed_into else "was fixed"
    match fixed.kind:
        case "exact":
            return (
                f"shows less often from {fixed.first_without} on"
                if fixed.is_rate
                else f"{gone} in {fixed.first_without}"
            )
        case "narrowed" if fixed.is_rate:
            return f"shows less often since some build between {fixed.last_with} and {fixed.first_without}"
        case "narrowed":
            return f"{gone} between {fixed.last_with} and {fixed.first_without}"
        case "open":
            at_end = fixed.last_with == report.range.last
            edge = "the last build of the range" if at_end else "the last that could be tested"
            return f"is still there in {fixed.last_with}, {edge}"
        case _:
            assert_never(fixed.kind)


def how_sure(end: Appeared | Fixed) -> str:
    """Why the end may be believed, and how far."""
    again = "run again in fresh trials" if end.verified else "not run a second time"
    if end.same_code:
        return f"no change of the code: {end.same_code}; the two builds were {again}"
    if end.confidence is not None and not end.also_differs:
        what = "two neighbouring builds" if end.kind == "exact" else _between(end)
        return f"{end.kind}: the rate changes here with {share(end.confidence)} confidence; {what}"
    if end.also_differs:
        return f"narrowed: {end.also_differs}; the two builds were {again}"
    match end.kind:
        case "exact":
            return (
                f"exact: two neighbouring builds, both {again}" if end.verified else f"exact: two neighbours, {again}"
            )
        case "narrowed":
            return f"narrowed: {_between(end)}; the two builds were {again}"
        case "open":
            is_thin = any(hole.thin for hole in end.holes)
            return "open: the builds beyond were only looked at thin" if is_thin else "open: the range ends here"
        case _:
            assert_never(end.kind)


def _one_code(why: str) -> str:
    return f"are built from the same code ({why})"


def _between(end: Appeared | Fixed) -> str:
    """What lies inside a narrowed end."""
    tried = sum(hole.tried for hole in end.holes) if end.holes else len(end.untestable)
    others = len(end.holes) - tried if end.holes else 0
    if not tried and not others:
        return "one of the two builds may owe its state to luck"
    if not tried:
        return f"{plural(others, 'build')} in between not tried"
    rest = f", {others} more not tried" if others else ""
    return f"{plural(tried, 'build')} in between could not be tested{rest}"


def hidden_before(appeared: Appeared, report: Report) -> str:
    """Which failure the build before had instead."""
    if not appeared.changed_from:
        return ""
    return f"The build before fails with {_called(appeared.changed_from, report)}, which may hide this failure."


def hidden_after(fixed: Fixed, report: Report) -> str:
    """Which failure the next build has instead."""
    if not fixed.changed_into:
        return ""
    return f"The next build fails with {_called(fixed.changed_into, report)}, which may hide this failure."


def how_often(entry: Entry) -> str:
    """How often a flaky build failed; empty for others."""
    if entry.state != "flaky" or entry.rate is None:
        return ""
    return f"failed in {percent(entry.rate)} of {plural(entry.trials, 'trial')}"


def when(date: str | None, *, precise: bool = False) -> str | None:
    """The day of an ISO time, with the minute when `precise`."""
    if date is None:
        return None
    return date[:16].replace("T", " ") if precise else date[:10]


def stretch_state(stretch: timeline.Stretch, names: dict[str, str]) -> str:
    """What all builds of a stretch have in common."""
    failures = ", ".join(names.get(failure, failure) for failure in stretch.failures)
    match stretch.state:
        case "pass":
            return "passes"
        case "failing":
            return failures or "fails"
        case "flaky":
            return f"{failures or 'fails'} now and then{_range(stretch.flaky)}"
        case "untestable":
            return "could not be tested"
        case "not tried":
            return "not tried"
        case _:
            assert_never(stretch.state)


def plural(count: int, noun: str) -> str:
    """`1 build`, `2 builds`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percent(share: float) -> str:
    """A share between 0 and 1, never rounded to nothing or to everything."""
    value = round(share * 100)
    if 0 < share < 1:
        value = min(max(value, 1), 99)
    return f"{value} %"


def duration(seconds: float) -> str:
    """`4.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def listed(words: Sequence[str], most: int = 6) -> str:
    """`A`, `A and B`, `A, B and 3 more`."""
    shown = list(words[:most]) if len(words) <= most + 1 else [*words[:most], f"{len(words) - most} more"]
    shown += words[most:] if len(words) == most + 1 else []
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _of_episode(episode: Episode, report: Report) -> str:
    comma = "," if episode.appeared.kind == "open" else ""
    return f"{began(episode.appeared, report)}{comma} and {ended(episode.fixed, report)}"


def _called(failures: Sequence[str], report: Report) -> str:
    names = timeline.names(report)
    return listed([names.get(failure, failure) for failure in failures])


def _range(rates: tuple[float, float] | None) -> str:
    if rates is None:
        return ""
    low, high = percent(rates[0]), percent(rates[1])
    return f" ({low} of trials)" if low == high else f" ({low} to {high} of trials)"


def _judged(case: CasePart) -> list[Entry]:
    return [entry for entry in case.timeline if entry.state not in {"not tried", "untestable"}]


def _nothing_changed(report: Report) -> tuple[str, ...]:
    ends = f"from {report.range.first} to {report.range.last}"
    return tuple(
        f"{case.name} passes on every build that was tested, {ends} ({len(_judged(case))} of {len(case.timeline)})."
        f"{_holes(case)}"
        for case in report.cases
        if case.role == "test"
    )


def _holes(case: CasePart) -> str:
    """Which builds between those that pass could not be tested, so that nobody takes them for good; empty without any."""
    dead = [entry for entry in case.timeline if entry.state == "untestable"]
    if not dead:
        return ""
    names = ", ".join(entry.build for entry in dead[:MOST_HOLES])
    more = f" and {len(dead) - MOST_HOLES} more" if len(dead) > MOST_HOLES else ""
    return f" {names}{more} could not be tested: {one_line(dead[0].reason or 'no reason known', 160)}."


def _counted(report: Report) -> tuple[str, ...]:
    return tuple(
        f"{case.name}: {len(_judged(case))} of {plural(len(case.timeline), 'build')} tested, no change found yet."
        for case in report.cases
        if case.role == "test"
    )


def _not_judged(report: Report) -> str:
    reasons = Counter(
        one_line(entry.reason or "no reason known", 160)
        for case in report.cases
        if case.role == "test"
        for entry in case.timeline
        if entry.state == "untestable"
    )
    text = f"No answer: too few of the {plural(report.counts.builds_considered, 'build')} could be tested."
    if not reasons:
        return text
    reason, count = reasons.most_common(1)[0]
    return f"{text} The most frequent reason ({plural(count, 'build')}): {reason}"
