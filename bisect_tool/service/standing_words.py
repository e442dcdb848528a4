"""What is known of a question, as the search sees it, as what a look-up tells. Pure but for the titles of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.search.answer import End, Kind, answer
from bisect_tool.search.knowledge import Known
from bisect_tool.search.states import Fail, Failing, Flaky, Passing, Result, State, Untestable
from bisect_tool.search.together import Asking
from bisect_tool.search.wants import wants_of
from bisect_tool.service.finding import Change, Standing
from bisect_tool.store.found_asking import Asker, postings, rows_with
from bisect_tool.store.found_rows import key

NAMED = "="  # begins the identity of a failure that the spec names
Timelines = Mapping[str, Mapping[int, State]]


@dataclass(frozen=True, slots=True)
class Begun:
    """What is known of a question, by the run that knew it last, and the titles of failures, by identity."""

    run: str
    spec: str
    package: str
    started: str
    asking: Asking
    builds: tuple[str, ...]
    titles: Mapping[str, str]


def titles_of(asker: Asker, failures: Collection[str]) -> dict[str, str]:
    """What reports call failures of these identities, where one has them; those that a spec names need none."""
    words = {key("identity", failure): failure for failure in failures if not failure.startswith(NAMED)}
    newest = {words[word]: ids[0] for word, ids in postings(asker, list(words), 1).items()}
    rows = rows_with(asker, newest.values())
    return {failure: rows[number].title for failure, number in newest.items() if number in rows}


def failures_of(known: Known) -> set[str]:
    """The identities of all failures that were seen."""
    return {failure for results in known.results.values() for failure in failures_in(results)}


def failures_in(results: Sequence[Result]) -> set[str]:
    """The identities of the failures of one case on one build."""
    return {failure for one in results if isinstance(one, Fail) for failure in one.failures}


def standing_of(one: Begun, breaks: Collection[int] = ()) -> tuple[Standing, Timelines]:
    """How far it has come, and the states of the tests. `breaks` as in `Line`: there nobody knows how many builds are left."""
    asking, builds = one.asking, one.builds
    question, known = asking.question, asking.known
    told = answer(question, known, asking.policy)
    lines = {case: told.timelines[case] for case in question.tests}
    made = Standing(
        run=one.run,
        spec=one.spec,
        package=one.package,
        started=one.started,
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
            for change in _changes(one, (failure.failure, failure.case), end, breaks, appeared=appeared)
        ),
        counts={case: dict(sorted(Counter(map(_word, line.values())).items())) for case, line in lines.items()},
    )
    return made, lines


def _changes(
    one: Begun, about: tuple[str, str], end: End, breaks: Collection[int], *, appeared: bool
) -> Iterator[Change]:
    """The change at an end; none where the range ends, because the failure may go on beyond it."""
    if end.kind is Kind.OPEN or end.before is None or end.after is None:
        return
    failure, case = about
    untried = sum(hole.reason is None for hole in end.holes)
    is_broken = any(end.before <= number < end.after for number in breaks)
    yield Change(
        failure=failure.removeprefix(NAMED),
        title=one.titles.get(failure, ""),
        case=case,
        appeared=appeared,
        before=one.builds[end.before],
        after=one.builds[end.after],
        left=None if is_broken else untried,
        untestable=len(end.holes) - untried,
        verified=end.verified,
    )


def _word(state: State) -> str:
    words = {Passing: "pass", Failing: "failing", Flaky: "flaky", Untestable: "untestable"}
    return words[type(state)]
