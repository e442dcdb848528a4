"""The loop with several slots, whose jobs end in any order; no processes, but the real sessions, store and record."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from bisect_tool.environments.environment import Checking
from bisect_tool.errors import DiskFull, MachineFault
from bisect_tool.reports import events
from bisect_tool.runs.executors import (
    AheadTold,
    Arrival,
    Ended,
    Job,
    OpenEnvironment,
    Result,
    RunTrial,
    SlotFull,
    SlotsRested,
    Told,
)
from bisect_tool.runs.judging import as_values
from bisect_tool.runs.session import Session
from bisect_tool.search.record import replayed
from bisect_tool.store import tables
from bisect_tool.store.results import Results, StoredTrial, open_results
from bisect_tool.trials.observation import Observation
from tests.rig.histories import History, joined, one_change, stepwise
from tests.rig.scripted_executor import Killed, Run, ScriptedExecutor
from tests.search.searching import all_ends

A, B = frozenset({"A"}), frozenset({"B"})
ONE = stepwise([(13, "pass"), (9, A)])
TWO = joined(stepwise([(13, "pass"), (9, A)], "a"), stepwise([(5, "pass"), (17, B)], "b"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, made once: making its tables takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "results.sqlite"
    open_results(path, nullcontext).close()
    return path


@pytest.fixture
def results(tmp_path: Path, empty: Path) -> Iterator[Results]:
    shutil.copy(empty, tmp_path / "results.sqlite")
    with closing(open_results(tmp_path / "results.sqlite", nullcontext)) as opened:
        yield opened


def run(results: Results, histories: Sequence[History], slots: int, seed: int, **more: Any) -> Run:
    ahead, name = more.pop("ahead", 0), more.pop("name", "run")
    holes = frozenset[int]().union(*(history.holes for history in histories))
    states = {case: row for history in histories for case, row in history.states.items()}
    executor = ScriptedExecutor(History(states, holes), slots, random.Random(seed), **more)
    path = results.address.path
    assert path is not None
    return Run(histories, path.parent, results, executor, ahead, name=name)


def _forget(results: Results) -> None:
    with results.engine.begin() as connection:
        connection.execute(delete(tables.trials))


def answers(sessions: Sequence[Session]) -> list[list[tuple[str, int | None, int | None]]]:
    return [sorted(all_ends(session.answer()), key=str) for session in sessions]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slots", [1, 2, 4])
@pytest.mark.parametrize("ahead", [0, 2])
def test_the_answer_is_the_same_in_any_order(results: Results, slots: int, seed: int, ahead: int) -> None:
    made = run(results, [ONE], slots, seed, ahead=ahead)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert all(stored == again for stored, again in replayed(results.decisions("run-0")))
    assert len(made.executor.ran) == len(results.trials_of(*_all_of(made)))


def _all_of(made: Run) -> tuple[str, str, str]:
    session = made.sessions()[0]
    return session.asked.repro.digest, session.asked.settings[0], "cpu"


def test_two_cases_and_two_specs_share_the_slots(results: Results) -> None:
    made = run(results, [TWO, stepwise([(18, "pass"), (4, A)], "c")], 3, 5)
    assert answers(made.go()) == [
        sorted([("exact", 12, 13), ("open", 21, None), ("exact", 4, 5), ("open", 21, None)], key=str),
        [("exact", 17, 18), ("open", 21, None)],
    ]
    assert made.executor.most_at_once == 3
    assert all(stored == again for stored, again in replayed(results.decisions("run-0")))


def test_what_is_made_ahead_changes_no_decision_of_one_slot(results: Results) -> None:
    """Builds that are ready would be chosen for their price; those that are ready only ahead of need are not."""
    served = []
    for ahead in (0, 1, 4):
        made = run(results, [one_change(random.Random(3), 60)], 1, 1, ahead=ahead, name=f"run{ahead}")
        for session in made.go():
            assert session.installed
        served.append(made.executor.ran)
        _forget(results)
    assert served[0] == served[1] == served[2]


def test_most_environments_of_one_slot_are_there_when_they_are_needed(results: Results) -> None:
    made = run(results, [one_change(random.Random(3), 60)], 1, 1, ahead=2)
    installed = made.go()[0].installed
    assert len(set(made.executor.was_ahead)) >= len(installed) - 3
    assert len(made.executor.prepared) <= 2 * len(installed)


class OneByOne(ScriptedExecutor):
    """Its news come one by one; notes what each slot is at when something is made ahead."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        self.left: list[Arrival] = []
        self.at = ""
        self.prepared_at: list[str] = []

    def start(self, slot: int, job: Job) -> None:
        self.at = type(job).__name__
        super().start(slot, job)

    def prepare(self, job: OpenEnvironment, size: int | None) -> None:
        self.prepared_at.append(self.at)
        super().prepare(job, size)

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        if timeout == 0:
            return []
        self.left = self.left or super().arrivals(timeout)
        if isinstance(self.left[0], Told):
            self.at = type(self.left[0].news).__name__
        return [self.left.pop(0)]


def test_what_comes_next_is_fetched_as_soon_as_all_is_here_for_the_slot(results: Results) -> None:
    executor = OneByOne(ONE, 1, random.Random(1))
    path = results.address.path
    assert path is not None
    Run([ONE], path.parent, results, executor, ahead=2).go()
    assert executor.prepared_at[0] == "Checking"
    assert not {"OpenEnvironment", "Making"} & set(executor.prepared_at)


class ProvingAhead(OneByOne):
    """What is made ahead is all here at once, and proven only when a slot waits: last of all what that waits for."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        self.ends: dict[str, Arrival] = {}

    def _make_ahead(self, job: OpenEnvironment) -> list[Arrival]:
        *news, self.ends[job.key.digest] = super()._make_ahead(job)
        return [*news, AheadTold(job.key.digest, Checking(), self.clock)]

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        wanted = {job.key.digest for job in self.pending.values() if isinstance(job, OpenEnvironment)}
        is_waiting, is_idle = bool(wanted & self.ends.keys()), not self.pending and not self.queue
        if timeout is None and not self.left:
            if is_waiting and self.queue:
                self.left = self._make_ahead(self.queue.pop(0))
            elif self.ends and (is_waiting or is_idle):
                self.left = [self.ends.pop(min(self.ends, key=lambda digest: digest in wanted))]
        return super().arrivals(timeout)


def test_while_a_slot_waits_for_what_is_proven_ahead_the_next_one_is_fetched(results: Results) -> None:
    executor = ProvingAhead(ONE, 1, random.Random(1))
    path = results.address.path
    assert path is not None
    made = Run([ONE], path.parent, results, executor, ahead=2)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert "OpenEnvironment" in executor.prepared_at


def test_a_build_that_cannot_be_installed_is_found_by_whoever_comes_first(results: Results) -> None:
    history = stepwise([(10, "pass"), (12, A)])
    made = run(results, [History(history.states, frozenset({9, 10}))], 2, 2, ahead=2)
    assert answers(made.go()) == [[("narrowed", 8, 11), ("open", 21, None)]]


def test_controls_come_before_tests_and_a_bad_one_makes_the_build_untestable(results: Results) -> None:
    control: dict[str, Any] = {"eager": tuple(A if build in (12, 13) else "pass" for build in range(22))}
    made = run(results, [History({**control, **ONE.states})], 4, 4)
    made.controls = ("eager",)
    assert answers(made.go()) == [[("narrowed", 11, 14), ("open", 21, None)]]
    seen: set[str] = set()
    for case, version in made.executor.ran:
        assert case == "eager" or version in seen
        seen.add(version)


def test_useless_work_is_called_off_and_never_stored(results: Results) -> None:
    off = stored = 0
    for seed in range(6):
        made = run(results, [ONE], 4, seed, name=f"run{seed}")
        made.go()
        off += sum(isinstance(event, events.CalledOff) for event in made.told)
        stored += len(results.trials_of(*_all_of(made))) - len(made.executor.ran)
        _forget(results)
    assert off > 0
    assert stored == 0


@pytest.mark.parametrize("kill_after", range(1, 32, 6))
def test_a_run_that_was_killed_goes_on_and_loses_nothing(results: Results, kill_after: int) -> None:
    first = run(results, [ONE], 3, kill_after, kill_after=kill_after, ahead=2)
    with pytest.raises(Killed):
        first.go()
    assert first.executor.is_closed
    again = run(results, [ONE], 3, 9, name="again", ahead=2)
    assert answers(again.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert len(results.trials_of(*_all_of(again))) == len(first.executor.ran) + len(again.executor.ran)


def test_the_work_of_a_lost_slot_goes_to_the_others(results: Results) -> None:
    made = run(results, [ONE], 3, 1, lose={0: 1, 2: 0})
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert sorted(event.slot for event in made.told if isinstance(event, events.SlotLost)) == ["s0", "s2"]


@pytest.mark.parametrize("slots", [1, 2])
def test_when_the_last_slot_is_lost_the_run_stops_with_advice(results: Results, slots: int) -> None:
    made = run(results, [ONE], slots, 1, lose=dict.fromkeys(range(slots), 1))
    with pytest.raises(MachineFault, match="lost"):
        made.go()
    assert made.executor.is_closed


@pytest.mark.parametrize("slots", [1, 2])
def test_when_slots_may_come_the_run_waits_for_them_and_goes_on(results: Results, slots: int) -> None:
    made = run(results, [ONE], slots, 1, lose=dict.fromkeys(range(slots), 1), joins=2)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert [event.slots for event in made.told if isinstance(event, events.SlotsJoined)] == [(f"s{slots}",)]


def test_when_none_came_in_time_the_run_stops_with_what_the_executor_says(results: Results) -> None:
    made = run(results, [ONE], 1, 1, lose={0: 1, 1: 1}, joins=1)
    with pytest.raises(MachineFault, match="no node has joined"):
        made.go()
    assert made.executor.is_closed


class Near(ScriptedExecutor):
    """Every environment is where the last slot is."""

    def prefers(self, slot: int, digest: str) -> bool:  # noqa: ARG002  as in every executor
        """Only the last."""
        return slot == self.count - 1


def test_what_is_worth_most_begins_in_the_slot_that_has_its_environment(results: Results) -> None:
    made = run(results, [ONE], 3, 1)
    made.executor = Near(made.executor.history, 3, random.Random(1))
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert next(event.slot for event in made.told if isinstance(event, events.BuildChosen)) == "s2"


def test_out_of_memory_beside_others_is_made_again_and_no_failure(results: Results) -> None:
    made = run(results, [ONE], 2, 1, crowded={"1.0", "1.21"})
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert sum(isinstance(event, events.MachineTrouble) for event in made.told) == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_disk_with_room_for_one_environment_leaves_one_slot_and_nothing_ahead(results: Results, seed: int) -> None:
    made = run(results, [ONE], 3, seed, room=1, ahead=2)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert sum(isinstance(event, events.SlotLost) for event in made.told) == 2


def test_a_disk_without_any_room_stops_the_run(results: Results) -> None:
    with pytest.raises(DiskFull):
        run(results, [ONE], 2, 1, room=0).go()


def test_a_slot_without_room_gives_its_work_back_and_is_tried_again_later(results: Results) -> None:
    made = run(results, [ONE], 2, 1, full={0: {1, 2}}, rest=3)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert [(event.slot, event.rests) for event in made.told if isinstance(event, events.SlotLost)] == [
        ("s0", True)
    ] * 2
    assert made.executor.openings.count(0) > 2
    assert all(stored == again for stored, again in replayed(results.decisions("run-0")))


def test_a_slot_that_never_has_room_costs_the_run_nothing(results: Results) -> None:
    made = run(results, [ONE], 2, 1, full={0: set(range(1, 99))}, ahead=2)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert made.executor.openings.count(0) == 1


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_slot_that_had_no_room_earlier_takes_over_when_the_others_have_none(results: Results, ahead: int) -> None:
    made = run(results, [ONE], 2, 1, full={0: {1}, 1: set(range(3, 99))}, ahead=ahead)
    assert answers(made.go()) == [[("exact", 12, 13), ("open", 21, None)]]
    assert made.executor.openings.count(0) > 2


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_when_no_slot_has_room_the_run_stops_with_that(results: Results, slots: int) -> None:
    full = {slot: set(range(1 if slot else 3, 99)) for slot in range(slots)}
    made = run(results, [ONE], slots, 1, full=full)
    with pytest.raises(DiskFull, match="no space is left on node-"):
        made.go()
    assert made.executor.is_closed
    assert made.executor.ran
    # Each was tried once more after the last that went well, and none for ever.
    assert len(made.executor.openings) <= 3 + 2 * slots


def test_a_question_that_wants_nothing_is_weighed_anew_only_when_something_was_learned(results: Results) -> None:
    (session,) = run(results, [ONE], 1, 1).go()
    last = session.asking()
    assert not last.wants
    readiness, session.readiness = session.readiness, None  # nobody looks what is here
    assert session.asking() is last
    session.readiness = readiness
    session.broken[12] = "gone"
    assert session.asking().wants


class TwoAtOnce(ScriptedExecutor):
    """Two trials end together, and the first of them cannot be started."""

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        """As ever until two trials run."""
        trials = {slot: job for slot, job in self.pending.items() if isinstance(job, RunTrial)}
        if len(trials) < 2 or timeout == 0:
            return super().arrivals(timeout)
        first, second = list(trials)[:2]
        del self.pending[first], self.pending[second]
        fault = MachineFault("no process can be started", advice="look at the memory")
        return [Ended(first, fault, self.clock), Ended(second, self._run(second, trials[second]), self.clock)]


def test_a_trial_that_ended_together_with_a_fault_is_stored(results: Results) -> None:
    made = run(results, [ONE], 1, 1)
    made.executor = TwoAtOnce(made.executor.history, 2, random.Random(1))
    with pytest.raises(MachineFault, match="no process can be started"):
        made.go()
    stored = results.trials_of(*_all_of(made))
    assert [(trial.case_name, trial.version) for trial in stored] == made.executor.ran
    assert not made.executor.open_environments


def test_of_forks_that_several_runs_have_left_one_counts(results: Results) -> None:
    """They can share what makes them differ from a fresh start: two of them do not verify each other."""
    (session,) = run(results, [ONE], 1, 1).sessions()
    (case,) = session.asked.question.tests
    for number, warm in enumerate((True, True, False, True)):
        observation = as_values(Observation(0, duration=1.0, warm=warm))
        trial = StoredTrial(
            session.subject(3), "repro", "case", case, "toy", "1.3", observation, f"t{number}", "c", 1.0
        )
        session.take(case, 3, trial)
    assert [(seen.folder, seen.warm) for seen in session.seen[case, 3]] == [("t0", True), ("t2", False)]


class FullWhenRun(ScriptedExecutor):
    """Environments are here and can be opened; from the third trial on there is no room to run one."""

    spoilt = 0

    def _run(self, slot: int, job: RunTrial) -> Result | BaseException:
        if len(self.ran) < 2:
            return super()._run(slot, job)
        self.spoilt += 1
        assert self.spoilt < 100, "for ever"
        return SlotFull(f"node-{slot} is full", DiskFull("no space is left", advice="make room"))


@pytest.mark.parametrize("slots", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_environments_that_open_where_no_trial_has_room_are_no_progress(
    results: Results, slots: int, seed: int
) -> None:
    made = run(results, [ONE], slots, seed)
    made.executor = executor = FullWhenRun(made.executor.history, slots, random.Random(seed))
    with pytest.raises(DiskFull, match="no space is left"):
        made.go()
    assert executor.spoilt <= 3 * slots


class RestsEndMeanwhile(ScriptedExecutor):
    """Calling off what is made ahead takes longer than every slot rests."""

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        if self.resting and not self.pending and timeout != 0:
            slots, self.resting = tuple(self.resting), {}
            return [SlotsRested(slots, self.clock)]
        return super().arrivals(timeout)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slots", [1, 2])
def test_slots_may_have_rested_while_what_is_made_ahead_is_called_off(results: Results, slots: int, seed: int) -> None:
    made = run(results, [ONE], slots, seed, ahead=2)
    full = {slot: {3} for slot in range(slots)}
    made.executor = RestsEndMeanwhile(made.executor.history, slots, random.Random(seed), full=full, rest=1000)
    with suppress(DiskFull):  # rightly, where nothing went well between
        made.go()
