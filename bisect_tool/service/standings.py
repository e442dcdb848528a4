"""How far a question has come that was begun and not answered: from the record of its search and the trials since.

The search code says what is known, as it does during a run; nothing is run, and no index of packages is asked. What is not
certain is left out: a trial counts only when it can be of no other case, setting or device than those of the run.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bisect_tool.runs.judging import as_result, from_values, verdict_of
from bisect_tool.search.answer import End, Kind, answer
from bisect_tool.search.knowledge import Known
from bisect_tool.search.record import standing
from bisect_tool.search.states import Fail, Failing, Flaky, Passing, Result, State, Untestable
from bisect_tool.search.together import Asking
from bisect_tool.search.wants import wants_of
from bisect_tool.service.finding import Change, Standing
from bisect_tool.store.begun_asking import BegunRun, TrialHead, begun_runs, observations, trials_since
from bisect_tool.store.found_asking import Asker, postings, rows_with
from bisect_tool.store.found_rows import key
from bisect_tool.trials.failure import Failed, MachineAtFault

MOST_JUDGED = 200  # trials of a question that the record does not know of; usually there are one or two
NAMED = "="  # begins the identity of a failure that the spec names


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run with what is known of its question, and the titles of failures, by identity."""

    run: BegunRun
    asking: Asking
    builds: tuple[str, ...]
    titles: Mapping[str, str]


def standings_of(asker: Asker, repros: Collection[str]) -> dict[str, Standing]:
    """How far the newest question about each repro has come, where that was not answered; and something is known of it."""
    found: dict[str, Standing] = {}
    runs = begun_runs(asker, repros)
    heads = trials_since(asker, {run.repro: run.started for run in runs})
    begun = [one for run in runs if (one := _begun(asker, run, heads.get(run.repro, []))) is not None]
    wanted = {failure for one in begun for failure in _failures(one.asking.known)}
    titles = _titles(asker, [one for one in wanted if not one.startswith(NAMED)])
    for one in begun:
        made = _standing(replace(one, titles={**titles, **one.titles}))
        if made.tried:
            found[one.run.repro] = made
    return found


def _titles(asker: Asker, identities: Sequence[str]) -> dict[str, str]:
    """What reports call failures of these identities, where one has them."""
    words = {key("identity", identity): identity for identity in identities}
    newest = {words[word]: ids[0] for word, ids in postings(asker, list(words), 1).items()}
    rows = rows_with(asker, newest.values())
    return {identity: rows[number].title for identity, number in newest.items()}


def _begun(asker: Asker, run: BegunRun, since: Sequence[TrialHead]) -> _Begun | None:
    try:
        ((asking, builds),) = standing(run.record)
    except (ValueError, KeyError, TypeError, IndexError):
        return None  # searched together with others, or by another version: nothing certain can be said
    heads = _unambiguous(since, asking, builds)[:MOST_JUDGED]
    results, titles = _judged(asker, heads, asking, builds)
    known = replace(asking.known, results={**asking.known.results, **results})
    return _Begun(run, replace(asking, known=known), builds, titles)


def _unambiguous(heads: Sequence[TrialHead], asking: Asking, builds: Sequence[str]) -> list[TrialHead]:
    """The trials that the record does not know of, of cases that were run in one way only since the run began."""
    question = asking.question
    numbers = {build: number for number, build in enumerate(builds)}
    cases = {*question.tests, *question.controls} - set(question.compared)
    ways = defaultdict(set)
    for head in heads:
        ways[head.case].add((head.case_digest, head.setting, head.device))
    where = {way[1:] for found in ways.values() for way in found}
    return [
        head
        for head in heads
        if head.case in cases
        and len(ways[head.case]) == 1
        and len(where) == 1
        and head.version in numbers
        and (head.case, numbers[head.version]) not in asking.known.results
    ]


def _judged(
    asker: Asker, heads: Sequence[TrialHead], asking: Asking, builds: Sequence[str]
) -> tuple[dict[tuple[str, int], tuple[Result, ...]], dict[str, str]]:
    """What these trials say. How the spec names failures is not stored: one counts only when the record has it, or no other."""
    found: dict[tuple[str, int], tuple[Result, ...]] = {}
    titles: dict[str, str] = {}
    observed = observations(asker, (head.id for head in heads))
    for head in heads:
        values = json.loads(observed[head.id])
        verdict = verdict_of(from_values(values), ())
        result = as_result(verdict)
        if values.get("over") or isinstance(verdict, MachineAtFault):
            continue
        place = head.case, builds.index(head.version)
        found[place] = (*found.get(place, ()), result)
        if isinstance(verdict, Failed):
            titles |= {failure.id: failure.signature.title for failure in verdict.failures}
    allowed = _failures(asking.known) or (set(titles) if len(titles) == 1 else set())
    return {place: results for place, results in found.items() if _failures_in(results) <= allowed}, titles


def _failures(known: Known) -> set[str]:
    """The identities of all failures that were seen."""
    return {failure for results in known.results.values() for failure in _failures_in(results)}


def _failures_in(results: Sequence[Result]) -> set[str]:
    return {failure for one in results if isinstance(one, Fail) for failure in one.failures}


def _standing(one: _Begun) -> Standing:
    asking, builds = one.asking, one.builds
    question, known = asking.question, asking.known
    told = answer(question, known, asking.policy)
    lines = {case: told.timelines[case] for case in question.tests}
    return Standing(
        run=one.run.id,
        spec=one.run.spec,
        package=one.run.package,
        started=one.run.started,
        first=builds[0],
        last=builds[-1],
        builds=len(builds),
        tried=len({build for line in lines.values() for build in line}),
        steps_left=wants_of(question, known, asking.policy).steps_left,
        changes=tuple(
            change
            for failure in told.failures
            for episode in failure.episodes
            for end, appeared in ((episode.appeared, True), (episode.fixed, False))
            for change in _changes(one, failure.failure, failure.case, end, appeared=appeared)
        ),
        counts={case: dict(sorted(Counter(map(_word, line.values())).items())) for case, line in lines.items()},
    )


def _changes(one: _Begun, failure: str, case: str, end: End, *, appeared: bool) -> Iterator[Change]:
    """The change at an end; none where the range ends, because the failure may go on beyond it."""
    if end.kind is Kind.OPEN or end.before is None or end.after is None:
        return
    untried = sum(hole.reason is None for hole in end.holes)
    yield Change(
        failure=failure.removeprefix(NAMED),
        title=one.titles.get(failure, ""),
        case=case,
        appeared=appeared,
        before=one.builds[end.before],
        after=one.builds[end.after],
        left=untried,
        untestable=len(end.holes) - untried,
        verified=end.verified,
    )


def _word(state: State) -> str:
    words = {Passing: "pass", Failing: "failing", Flaky: "flaky", Untestable: "untestable"}
    return words[type(state)]
