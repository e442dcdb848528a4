"""A finding as text for people: what it is, since when, until when, how sure, and where there is more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bisect_tool.reports.cleaning import clean
from bisect_tool.service.finding import Answer, By, Change, End, Finding, Found, Match, Standing

_HOW = {
    Match.FAILURE: "the same failure",
    Match.QUESTION: "the same question",
    Match.REPRO: "the same script, asked for other builds",
    Match.NAME: "names it",
    Match.ISSUE: "the same issue",
    Match.PACKAGE: "of the package",
}
_WORD = {Found.YES: "known", Found.PARTLY: "not known exactly", Found.NO: "not known"}
_DIGITS = 12  # of a commit


def render(finding: Finding, server: str = "") -> str:
    """The text, with a newline at its end; `server` is what pages are behind."""
    return "\n".join([*map(_flat, _lines(finding, server)), ""])


def _flat(line: str) -> str:
    """One line, whatever a title says: what a server or a report tells may hold anything."""
    return clean(line).replace("\n", " ")


def _lines(finding: Finding, server: str) -> Iterator[str]:
    what = finding.title or (f"spec {finding.query}" if finding.by is By.SPEC else finding.query.strip().split("\n")[0])
    yield f"{_WORD[finding.found]}: {what}"
    for answer in finding.answers:
        yield ""
        yield from _of_answer(answer, finding.by, server)
    for standing in finding.standing:
        yield ""
        yield from _of_standing(standing)
    if finding.notes or finding.found is Found.NO:
        yield ""
    if finding.found is Found.NO:
        yield "nothing stored tells about it; `bisect run SPEC` finds it out, `bisect init` drafts a spec of a report"
    yield from (f"note: {note}" for note in finding.notes)


def _of_answer(answer: Answer, by: By, server: str) -> Iterator[str]:
    near = f"near: shares {answer.score:.0%} of its words" if by is By.TEXT else "holds a part of the name"
    about = ", ".join(filter(None, (answer.spec, answer.case and f"case {answer.case}")))
    yield f"  {_HOW.get(answer.match, near)} · {answer.package} · {about}"
    yield f"    {answer.title or answer.spec_title}"
    if answer.failure:
        yield from _history(answer)
    else:
        yield from (f"    {sentence}" for sentence in answer.summary)
    cut = "" if answer.finished else "; the run was cut short"
    yield (
        f"    {answer.channel} {answer.first} to {answer.last} on {answer.device}, {answer.python}; "
        f"{answer.ended[:10]}{cut}"
    )
    if answer.issue:
        yield f"    issue:  {answer.issue}"
    yield f"    more:   {server + answer.page if server and answer.page else answer.repeat}"


def _history(answer: Answer) -> Iterator[str]:
    for episode in answer.episodes:
        yield f"    {_appeared(episode.appeared)}"
        yield from _evidence(episode.appeared)
        yield f"    {_fixed(episode.fixed)}"
        yield from _evidence(episode.fixed)


def _appeared(end: End) -> str:
    if end.before is None:
        return f"was there already in {_build(end.after, end.after_date)}, the oldest build that was judged"
    if end.kind == "exact":
        verb = "shows more often from" if end.is_rate else "appeared in"
        return f"{verb} {_build(end.after, end.after_date)}; last without it: {_build(end.before, end.before_date)}{_sure(end)}"
    return f"appeared between {_build(end.before, end.before_date)} and {_build(end.after, end.after_date)}{_sure(end)}"


def _fixed(end: End) -> str:
    if end.after is None:
        return f"still there in {_build(end.before, end.before_date)}, the newest build that was judged"
    verb = "changed into another failure" if end.instead else "shows less often" if end.is_rate else "fixed"
    if end.kind == "exact":
        return f"{verb} in {_build(end.after, end.after_date)}; last with it: {_build(end.before, end.before_date)}{_sure(end)}"
    return f"{verb} between {_build(end.before, end.before_date)} and {_build(end.after, end.after_date)}{_sure(end)}"


def _sure(end: End) -> str:
    """How far it may be believed."""
    said = [end.kind, "verified" if end.verified else "not verified"]
    said += [f"{end.confidence:.1%} sure"] if end.confidence is not None else []
    said += [f"{end.untestable_count} untestable between"] if end.untestable_count else []
    said += [f"{end.not_tried} not tried between"] if end.not_tried else []
    said += [f"the same code: {end.same_code}"] if end.same_code else []
    said += [end.also_differs] if end.also_differs else []
    return f" ({', '.join(said)})"


def _evidence(end: End) -> Iterator[str]:
    if end.before is None or end.after is None:
        return
    if end.compare:
        yield f"      commits: {end.compare}"
    for one in end.suspects[:1]:
        pull = f" (#{one.pull})" if one.pull else ""
        yield f"      look first at {one.sha[:_DIGITS]} {one.title}{pull}: a hint, not a verdict"


def _build(build: str | None, date: str | None) -> str:
    return f"{build} ({date[:10]})" if date else str(build)


def _of_standing(standing: Standing) -> Iterator[str]:
    how = "begun, not answered" if standing.is_begun else "not answered for these builds; put together from other runs"
    yield f"  {how} · {standing.package} · {standing.spec}"
    for change in standing.changes:
        yield f"    {change.title or change.failure}, case {change.case}"
        yield f"      {_change(change)}"
    if not standing.changes:
        yield from (
            f"    no change seen in case {case}: {_counted(counts)}" for case, counts in standing.counts.items()
        )
    left = f"; about {standing.steps_left} more to install" if standing.steps_left is not None else ""
    known = "" if standing.steps_left is not None else "known "
    yield (
        f"    {standing.tried} of {standing.builds} {known}builds from {standing.first} to {standing.last} have a state{left}"
    )
    if standing.channel:
        listed = f"; builds as listed on {standing.listed[:10]}" if standing.listed else ""
        yield f"    {standing.channel} on {standing.device}, {standing.python}{listed}"
    yield from (f"    {note}" for note in standing.notes)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "no build has a state"


def _change(change: Change) -> str:
    verb = "appeared" if change.appeared else "went away"
    left = "how many builds are left is not known: no listing of them is" if change.left is None else "neighbours"
    if change.left:
        left = f"{change.left} {'build' if change.left == 1 else 'builds'} left"
    more = f", {change.untestable} untestable" if change.untestable else ""
    return (
        f"{verb} between {change.before} and {change.after}, {left}{more}{'' if change.verified else ', not verified'}"
    )


def history(answer: Answer) -> tuple[str, ...]:
    """Since when and until when, a sentence for each end of each episode."""
    ends = (text for one in answer.episodes for text in (_appeared(one.appeared), _fixed(one.fixed)))
    return (*ends, *(() if answer.failure else answer.summary))
