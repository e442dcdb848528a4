"""A range that nobody asked for, as far as the verdicts of other questions about the same spec narrow it.

The verdicts are those that the records of its searches hold. One counts only when it is about the same repro, case,
environment, device and file: a build whose file was replaced since, or a spec with other requirements, arguments or names of
failures, is another one. The builds are those that searches had listed: nothing is asked over the network.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.record import standing
from bisect_tool.search.states import Flaky, Result, State, trials_of
from bisect_tool.search.together import Asking
from bisect_tool.service.agreeing import agrees, has_same_cases
from bisect_tool.service.build_lines import Line, Stretch, line_of
from bisect_tool.service.finding import AskedSpec, Query, Standing
from bisect_tool.service.listings import UNREADABLE, Listings, Place, about_of, place_of, stretch_of
from bisect_tool.service.standing_words import Begun, failures_of, standing_of, titles_of
from bisect_tool.spec.asked_identity import OF_MACHINE
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import StoredRecord, forgotten_in, records_of
from bisect_tool.trials.judge import RULES

MOST_PLACES = 3  # devices and interpreters of which one query is told
MOST_NAMED = 5  # builds of which it is said that trials disagree


@dataclass(frozen=True, slots=True)
class _Search:
    """A record that was read: `asking` has what is known of the builds of `stretch`."""

    record: StoredRecord
    about: Mapping[str, Any]
    place: Place
    stretch: Stretch
    asking: Asking


@dataclass(frozen=True, slots=True)
class _Narrowed:
    begun: Begun
    line: Line
    place: Place
    notes: tuple[str, ...]


def narrowed(asker: Asker, queries: Sequence[Query], listings: Listings) -> dict[Query, tuple[Standing, ...]]:
    """What is known of each query that has `asked`; a query of which nothing is, is not in it."""
    wanted = [query for query in dict.fromkeys(queries) if query.asked is not None and _is_portable(query.asked)]
    records = records_of(asker, {query.text for query in wanted}) if wanted else {}
    searches = {repro: [one for record in several if (one := _read(record))] for repro, several in records.items()}
    made = {query: list(_places(query, searches.get(query.text, ()), listings)) for query in wanted}
    every = [one for several in made.values() for one in several]
    titles = titles_of(asker, {failure for one in every for failure in failures_of(one.begun.asking.known)})
    found = {query: tuple(_told(one, titles) for one in several) for query, several in made.items()}
    return {query: tuple(one for one in several if one.tried) for query, several in found.items()}


def _is_portable(asked: AskedSpec) -> bool:
    """Whether verdicts of several machines may be put together: not where the packages of each machine belong to them."""
    return bool(asked.beside) and not asked.beside.startswith(OF_MACHINE)


def is_asked(record: StoredRecord, query: Query) -> Mapping[str, Any] | Literal[False] | None:
    """Where a record was made that is of the very question of `query`; False: of another; None: it does not say of which."""
    try:
        about = about_of(json.loads(record.lines[0]), record.place)
        is_it = agrees(about, query) and query.asked is not None and has_same_cases(about, query.asked)
        return about if is_it and (about["from"], about["to"]) == (query.from_, query.to) else False
    except UNREADABLE:
        return None


def _read(record: StoredRecord) -> _Search | None:
    """None for a record of before, of other rules of judging, whose builds nobody else may count, or that cannot be read."""
    try:
        opened = json.loads(record.lines[0])
        about = about_of(opened, record.place)
        if about["listing"] is None or about.get("rules") != RULES:
            return None
        asking, _ = standing(record.lines)[record.place]
        stretch = stretch_of(opened, record.place, record.started)
        stretch = stretch.without_files(forgotten_in(record.lines[1:], record.place))
        return _Search(record, about, place_of(about), stretch, asking)
    except UNREADABLE:
        return None


def _places(query: Query, searches: Sequence[_Search], listings: Listings) -> Iterator[_Narrowed]:
    by_place: dict[Place, list[_Search]] = defaultdict(list)
    for search in searches:
        if agrees(search.about, query):
            by_place[search.place].append(search)
    for place, group in list(by_place.items())[:MOST_PLACES]:
        line = _line(query, [one.stretch for one in group], place, listings)
        if line is not None and len(line.builds) > 1:
            yield _narrowed(query, place, group, line)


def _line(query: Query, own: Sequence[Stretch], place: Place, listings: Listings) -> Line | None:
    """Also as searches of other scripts have listed them: a newer one may show that a file was replaced."""
    known = {(one.listed, one.builds[:1], len(one.builds)) for one in own}
    others = [one for one in listings.of(place) if (one.listed, one.builds[:1], len(one.builds)) not in known]
    return line_of(sorted([*own, *others], key=lambda one: one.listed, reverse=True), query.from_, query.to)


def _narrowed(query: Query, place: Place, group: Sequence[_Search], line: Line) -> _Narrowed:
    asked = query.asked
    assert asked is not None
    known, replaced = _known(asked, group, line)
    controls = tuple(dict.fromkeys(case.name for case in asked.cases if case.is_control))
    tests = [case.name for case in asked.cases if not case.compared and case.name not in controls]
    question = Question(len(line.builds), tuple(dict.fromkeys(tests)), controls)
    names = tuple(one.version for one in line.builds)
    newest = group[0].record
    asking = Asking(question, known, _strictest([one.asking.policy for one in group]), names)
    begun = Begun(newest.run, newest.spec, newest.package, newest.started, asking, names, {})
    return _Narrowed(begun, line, place, tuple(_notes(query, asked, line, replaced)))


def _strictest(policies: Sequence[Policy]) -> Policy:
    """What all of them would call verified: none takes the word of another one that was content with less."""
    verify = max(1, *(one.verify for one in policies))
    confidence = max(one.confidence for one in policies)
    return replace(policies[0], verify=verify, confidence=confidence, trust=False, thin=False)


def _known(asked: AskedSpec, group: Sequence[_Search], line: Line) -> tuple[Known, list[str]]:
    """What the searches say of the builds of a line; and the builds of whose replaced files they say something."""
    numbers = {one.version: number for number, one in enumerate(line.builds)}
    results: dict[tuple[str, int], tuple[Result, ...]] = {}
    broken: dict[int, str] = {}
    replaced: dict[str, None] = {}
    for search in reversed(group):  # the oldest first
        names = _names(asked, search)
        here = {
            place: numbers[one.version] for place, one in enumerate(search.stretch.builds) if one.version in numbers
        }
        known, files = search.asking.known, search.stretch.builds
        looked_at = {build for _, build in known.results} | set(known.broken)
        now = {build: line.builds[number].file for build, number in here.items()}
        other = {build for build, file in now.items() if not file or files[build].file != file}
        replaced |= dict.fromkeys(files[build].version for build in sorted(other & looked_at) if now[build])
        for (case, build), own in known.results.items():
            if build in here and build not in other:
                broken.pop(here[build], None)
                for name in names.get(case, ()):
                    results[name, here[build]] = together(results.get((name, here[build]), ()), own)
        broken |= {here[build]: why for build, why in known.broken.items() if build in here and build not in other}
    return Known(_controlled(asked, results), broken), list(replaced)


def _names(asked: AskedSpec, search: _Search) -> dict[str, list[str]]:
    """What the cases of a search are called in the spec that was asked; none where numbers are compared with a build."""
    names: dict[str, list[str]] = defaultdict(list)
    compared = set(search.asking.question.compared)
    for case in asked.cases:
        if not case.compared:
            for other, digest in search.about["cases"].items():
                if digest == case.digest and other not in compared:
                    names[other].append(case.name)
    return names


def together(older: Sequence[Result], newer: Sequence[Result]) -> tuple[Result, ...]:
    """The results of a case on a build that two searches know: a search begins with those of the ones before.

    Neither counts twice; where one does not hold the other, as after asking afresh, both count, so that a contradiction shows.
    """
    one, other = Counter(older), Counter(newer)
    if one <= other:
        return tuple(newer)
    return tuple(older) if other <= one else (*older, *newer)


def _controlled(
    asked: AskedSpec, results: Mapping[tuple[str, int], tuple[Result, ...]]
) -> dict[tuple[str, int], tuple[Result, ...]]:
    """Without the tests on builds on which not every control was run: a control might say that they cannot be judged."""
    controls = [case.name for case in asked.cases if case.is_control]
    return {
        (case, build): own
        for (case, build), own in results.items()
        if case in controls or all((control, build) in results for control in controls)
    }


def _notes(query: Query, asked: AskedSpec, line: Line, replaced: Collection[str]) -> Iterator[str]:
    builds = line.builds
    if not line.reaches_from and 0 not in line.doubtful:
        before = f"from {query.from_} " if query.from_ else ""
        yield f"no listing is known of the builds {before}before {builds[0].version}: how many they are is not known"
    if not line.reaches_to and len(builds) - 1 not in line.doubtful:
        to = f"to {query.to} " if query.to else ""
        yield f"no listing is known of the builds {to}after {builds[-1].version}: how many they are is not known"
    if line.doubtful:
        several = [builds[number].version for number in sorted(line.doubtful)]
        yield f"not in a newer listing, whether they are still there is not known: {_some(several)}"
    if any(not line.doubtful & {number, number + 1} for number in line.breaks):
        yield "of some builds between no listing is known: how many they are is not known"
    if replaced:
        yield f"the file was replaced since it was tried: {_some([*replaced])}; what the old one did does not count"
    if any(case.compared for case in asked.cases):
        yield "numbers are compared with a build of the range that was asked for: only a run tells"


def _some(builds: Sequence[str]) -> str:
    more = f" and {len(builds) - MOST_NAMED} more" if len(builds) > MOST_NAMED else ""
    return f"{', '.join(builds[:MOST_NAMED])}{more}"


def _told(one: _Narrowed, titles: Mapping[str, str]) -> Standing:
    made, lines = standing_of(replace(one.begun, titles=titles), one.line.breaks)
    place, whole = one.place, one.line.is_whole
    return replace(
        made,
        is_begun=False,
        steps_left=made.steps_left if whole else None,
        channel=place.channel,
        device=place.device,
        python=place.python,
        listed=one.line.listed,
        notes=(*one.notes, *_doubts(one.begun.builds, lines)),
    )


def _doubts(builds: Sequence[str], lines: Mapping[str, Mapping[int, State]]) -> Iterator[str]:
    """On which builds trials of one case disagree."""
    for case, line in lines.items():
        flaky = [(builds[build], state) for build, state in line.items() if isinstance(state, Flaky)]
        for build, state in flaky[:MOST_NAMED]:
            yield f"trials disagree: case {case} failed in {state.failed} of {trials_of(state)} on {build}"
        if len(flaky) > MOST_NAMED:
            yield f"trials disagree on {len(flaky) - MOST_NAMED} more builds in case {case}"
