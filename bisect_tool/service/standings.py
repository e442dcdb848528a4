"""How far a question has come that was begun and not answered: from the record of its search and the trials since.

The search code says what is known, as it does during a run; nothing is run, and no index of packages is asked. What is not
certain is left out: a trial counts only when it can be of no other case, setting or device than those of the run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bisect_tool.runs.judging import as_result, from_values, verdict_of
from bisect_tool.runs.record_places import file_name
from bisect_tool.search.record import standing
from bisect_tool.search.states import Result
from bisect_tool.search.together import Asking
from bisect_tool.service.finding import Standing
from bisect_tool.service.standing_words import Begun, failures_in, failures_of, standing_of, titles_of
from bisect_tool.store.begun_asking import BegunRun, TrialHead, begun_runs, observations, trials_since
from bisect_tool.store.found_asking import Asker
from bisect_tool.trials.failure import Failed, MachineAtFault

MOST_JUDGED = 200  # trials of a question that the record does not know of; usually there are one or two


@dataclass(frozen=True, slots=True)
class BegunStanding:
    """How far the question of a run has come; `looked_at` are the builds of which something is known."""

    run: BegunRun
    told: Standing
    looked_at: frozenset[str]


def standings_of(asker: Asker, repros: Collection[str]) -> dict[str, BegunStanding]:
    """How far the newest question about each repro has come, where that was not answered; and something is known of it."""
    runs = begun_runs(asker, repros)
    heads = trials_since(asker, {run.repro: run.started for run in runs})
    begun = [(run, one) for run in runs if (one := _begun(asker, run, heads.get(run.repro, []))) is not None]
    titles = titles_of(asker, {failure for _, one in begun for failure in failures_of(one.asking.known)})
    made = (
        BegunStanding(run, standing_of(replace(one, titles={**titles, **one.titles}))[0], _looked_at(one))
        for run, one in begun
    )
    return {one.run.repro: one for one in made if one.told.tried}


def _looked_at(one: Begun) -> frozenset[str]:
    known = one.asking.known
    return frozenset(one.builds[build] for build in {build for _, build in known.results} | set(known.broken))


def _begun(asker: Asker, run: BegunRun, since: Sequence[TrialHead]) -> Begun | None:
    try:
        ((asking, builds),) = standing(run.record)
    except (ValueError, KeyError, TypeError, IndexError):
        return None  # searched together with others, or by another version: nothing certain can be said
    heads = _of_the_run(run, since, asking, builds)[:MOST_JUDGED]
    results, titles = _judged(asker, heads, asking, builds)
    known = replace(asking.known, results={**asking.known.results, **results})
    return Begun(run.id, run.spec, run.package, run.started, replace(asking, known=known), builds, titles)


def _of_the_run(run: BegunRun, since: Sequence[TrialHead], asking: Asking, builds: Sequence[str]) -> list[TrialHead]:
    """The trials that the record does not know of and that are about what the run asked."""
    numbers = {build: number for number, build in enumerate(builds)}
    cases = {*asking.question.tests, *asking.question.controls} - set(asking.question.compared)
    new = [
        head
        for head in since
        if head.case in cases
        and head.version in numbers
        and (head.case, numbers[head.version]) not in asking.known.results
    ]
    where = _where(run.record[0])
    if where is None:
        return _unambiguous(new)
    about, files = where
    return [
        head
        for head in new
        if head.setting in about["settings"]
        and head.device == about["device"]
        and head.case_digest == about["cases"].get(head.case)
        and file_name(head.identity) == files[numbers[head.version]]
    ]


def _where(line: str) -> tuple[Mapping[str, Any], Sequence[str]] | None:
    """Where a record was made and the files of its builds; None for one that does not say it."""
    opened = json.loads(line)
    try:
        about = opened["about"][0]
        return about, opened["listings"][about["listing"]]["files"]
    except (KeyError, TypeError, IndexError):
        return None


def _unambiguous(heads: Sequence[TrialHead]) -> list[TrialHead]:
    """Those of cases that were run in one way only since the run began, on builds of which there was one file."""
    ways, files = defaultdict(set), defaultdict(set)
    for head in heads:
        ways[head.case].add((head.case_digest, head.setting, head.device))
        files[head.version].add(head.identity)
    where = {way[1:] for found in ways.values() for way in found}
    return [head for head in heads if len(ways[head.case]) == 1 and len(where) == 1 and len(files[head.version]) == 1]


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
    allowed = failures_of(asking.known) or (set(titles) if len(titles) == 1 else set())
    return {place: results for place, results in found.items() if failures_in(results) <= allowed}, titles
