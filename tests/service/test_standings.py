from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from bisect_tool.runs.judging import as_values
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.record import decision, opening, text_of
from bisect_tool.search.together import Asking, choose
from bisect_tool.service.finding import By, Found, Query, Standing
from bisect_tool.service.looking_up import look_up
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.results import Results, StoredTrial, Subject, open_results
from bisect_tool.trials.observation import Observation
from tests.rig.answered_reports import keep, report_of, shown_by
from tests.rig.histories import stepwise
from tests.search.searching import Search

ERROR = 'Traceback (most recent call last):\n  File "repro.py", line 1, in <module>\nValueError: the gradient is zero\n'
FAILURE = shown_by(ERROR).id
REPRO = "a" * 64
BUILDS = tuple(f"2.{number}" for number in range(40))
CHANGE = 23  # the first build that fails


@pytest.fixture
def results(address: StoreAddress) -> Iterator[Results]:
    with open_results(address, nullcontext) as opened:
        yield opened


def begin(results: Results, run: str = "1") -> None:
    results.start_run(run, spec="a-spec", repro=REPRO, package="torch")


def record(results: Results, steps: int, run: str = "1") -> Search:
    """The record of a search that was killed after so many decisions."""
    history = stepwise([(CHANGE, "pass"), (len(BUILDS) - CHANGE, frozenset({FAILURE}))])
    search = Search(history, Question(history.n, history.cases), Policy(verify=1))
    before: list[Known] | None = None
    for number in range(1, steps + 1):
        known = search.known()
        asking = Asking(search.question, known, search.policy, BUILDS)
        if number == 1:
            results.add_decision(run, 0, text_of(opening([asking], [BUILDS], "1.0")))
        choice = choose([asking])
        results.add_decision(run, number, text_of(decision(number, before, [asking], choice)))
        before = [known]
        if choice is None:
            break
        search.serve(choice.probe)
        search.installed.add(choice.probe.build)
    return search


def trial(version: str, output: str = "", case_digest: str = "digest") -> StoredTrial:
    observation = Observation(1 if output else 0, output=output)
    return StoredTrial(
        Subject(f"sha256:{version}", "setting", "cpu"), REPRO, case_digest, "main", "torch", version, as_values(observation),
        f"trials/{version}-{case_digest}", "python repro.py", 1.0,
    )  # fmt: skip


def standing(results: Results) -> Standing | None:
    (found,) = look_up(results, [Query(REPRO, By.SPEC)])
    assert found.found is (Found.PARTLY if found.standing or found.answers else Found.NO)
    return found.standing[0] if found.standing else None


def test_what_is_known_of_a_search_that_was_killed_is_true_at_every_step(results: Results) -> None:
    lefts = []
    for steps in range(1, 20):
        begin(results, f"{steps:02}")
        record(results, steps, f"{steps:02}")
        told = standing(results)
        if told is None:
            assert steps == 1  # nothing was tried yet
            continue
        assert (told.first, told.last, told.builds) == ("2.0", "2.39", 40)
        for change in told.changes:
            before, after = BUILDS.index(change.before), BUILDS.index(change.after)
            assert change.appeared
            assert before < CHANGE <= after
            assert change.left == after - before - 1
            lefts.append(change.left or 0)
    assert told is not None
    assert (told.steps_left, lefts[-1], told.changes[0].verified) == (0, 0, True)
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[0] > 10


def test_nothing_is_verified_that_was_run_once(results: Results) -> None:
    begin(results)
    record(results, 3)
    told = standing(results)
    assert told is not None
    assert [(change.verified, bool(change.left)) for change in told.changes] == [(False, True)]
    assert told.steps_left is not None
    assert told.steps_left > 2


def test_trials_that_the_record_does_not_know_of_count(results: Results) -> None:
    begin(results)
    record(results, 3)
    before = standing(results)
    results.add_trial(trial("2.22"))
    results.add_trial(trial("2.25", ERROR))
    after = standing(results)
    assert before is not None
    assert after is not None
    (change,) = after.changes
    assert (change.before, change.after, change.left, change.verified) == ("2.22", "2.25", 2, False)
    assert change.title == "ValueError: the gradient is zero"
    assert after.tried == before.tried + 2


@pytest.mark.parametrize(
    "odd",
    [
        [trial("2.22", case_digest="other arguments"), trial("2.21")],
        [replace(trial("2.22"), subject=Subject("sha256:x", "another Python", "cpu")), trial("2.21")],
        [replace(trial("2.22"), case_name="another case")],
        [trial("3.0")],
        [trial("2.22", ERROR.replace("gradient", "bias"))],
    ],
    ids=[
        "two ways to run a case",
        "two settings",
        "another case",
        "no build of the range",
        "a failure that may have a name",
    ],
)
def test_what_is_not_certain_does_not(results: Results, odd: list[StoredTrial]) -> None:
    begin(results)
    record(results, 3)
    before = standing(results)
    for one in odd:
        results.add_trial(one)
    assert standing(results) == before


def test_a_question_that_was_answered_since_is_not_begun(results: Results) -> None:
    begin(results)
    record(results, 3)
    keep(results, "2", report_of(shown_by(ERROR), repro=REPRO))
    with results.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET started = '2100-01-01' WHERE id = '2'")
    assert standing(results) is None


def test_a_record_that_cannot_be_read_tells_nothing(results: Results) -> None:
    begin(results)
    results.add_decision("1", 0, '{"format": 99}')
    assert standing(results) is None
    begin(results, "2")
    results.add_decision("2", 0, '{"same as": "1"}')
    assert standing(results) is None


def test_what_was_begun_is_no_answer_about_one_device_or_another_package(results: Results) -> None:
    begin(results)
    record(results, 12)

    def told(query: Query) -> tuple[Standing, ...]:
        return look_up(results, [query])[0].standing

    whole = Query(REPRO, By.SPEC)
    assert len(told(whole)) == len(told(replace(whole, package="torch"))) == 1
    assert told(replace(whole, device="cpu")) == told(replace(whole, package="triton")) == ()
