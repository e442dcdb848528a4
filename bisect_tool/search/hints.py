"""Hints: what thin builds showed, where whole ones are not known yet. They say where to look; no answer rests on them.

A thin build is the Python files of one build on the binaries of a newer one. The builds that share these binaries are a
stretch. For a case, the hints of a stretch count as long as nothing that whole builds show speaks against them:

- a whole build shows what its hint says, and between two hints that agree what both of them say;
- no whole build of the case is flaky, and at most `IN_VAIN` of the stretch could not be tested whole: the search has ways
  around such builds, and hints would lead it through them one by one;
- some case changes somewhere: without any change to prove, a statement about the range takes whole builds alone.

Where they count, they stand in for results, so that the search goes straight to where they change. Both sides of such a
change are wanted as whole builds, always. Whatever these show takes the place of the hints, and the search goes on from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from bisect_tool.search.knowledge import Known, Question, judged_of, timelines
from bisect_tool.search.states import Fail, Flaky, Hint, Judged, Pass, State, face
from bisect_tool.search.wishes import Purpose, View, Wish

Pair = tuple[str, int]
IN_VAIN = 2


def with_hints(question: Question, known: Known) -> tuple[Known, frozenset[Pair]]:
    """What is known with the hints that count in the place of results, and the (case, build) that rest on a hint alone."""
    if not known.hints:
        return known, frozenset()
    counting = counting_hints(question, known)
    results = {pair: (Fail(hint.failures) if hint.failures else Pass(),) for pair, hint in counting.items()}
    return replace(known, results={**known.results, **results}), frozenset(counting)


def counting_hints(question: Question, known: Known) -> dict[Pair, Hint]:
    """The hints that count, but for builds that were tried whole."""
    lines = timelines(question, known, question.tests)
    counting = {
        (case, build): hint
        for case in question.tests
        for build, hint in _of_case(known, case, lines[case]).items()
        if build not in lines[case]
    }
    faces = {case: {face(state) for state in judged_of(lines[case]).values()} for case in question.tests}
    for (case, _), hint in counting.items():
        faces[case].add(hint.failures)
    return counting if any(len(shown) > 1 for shown in faces.values()) else {}


def proofs(view: View, unproven: frozenset[Pair]) -> Iterator[Wish]:
    """The sides of changes that rest on hints: each is wanted as a whole build."""
    sides = {build for gap in view.open_gaps for build in (gap.before, gap.after)}
    for build in sorted(sides):
        if (view.case, build) in unproven:
            yield Wish(view.case, build, 1.5, Purpose.PROOF)


def proven(view: View, unproven: frozenset[Pair]) -> View:
    """Only what whole builds have shown."""
    judged = {build: state for build, state in view.judged.items() if (view.case, build) not in unproven}
    return replace(view, judged=judged)


def _of_case(known: Known, case: str, states: Mapping[int, State]) -> dict[int, Hint]:
    """The hints of the stretches that nothing speaks against."""
    judged = judged_of(states)
    in_vain = states.keys() - judged.keys()
    if any(isinstance(state, Flaky) for state in judged.values()):
        return {}
    stretches: dict[int, dict[int, Hint]] = defaultdict(dict)
    for (name, build), hint in known.hints.items():
        if name == case:
            stretches[hint.base][build] = hint
    kept = (
        stretch
        for base, stretch in stretches.items()
        if _agrees(base, stretch, judged) and sum(min(stretch) <= build < base for build in in_vain) <= IN_VAIN
    )
    return {build: hint for stretch in kept for build, hint in stretch.items()}


def _agrees(base: int, stretch: Mapping[int, Hint], judged: Mapping[int, Judged]) -> bool:
    line = {build: hint.failures for build, hint in sorted(stretch.items())}
    if any(build in judged and face(judged[build]) != shown for build, shown in line.items()):
        return False
    if base in judged:
        line[base] = face(judged[base])
    return not any(
        line[before] == line[after] != face(judged[build])
        for before, after in pairwise(line)
        for build in judged
        if before < build < after
    )
