"""Hosts that share a store, without processes: each is a loop with a cache and an executor of its own."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bisect_tool.reports import events
from bisect_tool.runs.judging import as_values
from bisect_tool.runs.session import Session
from bisect_tool.runs.turns import Turns
from bisect_tool.spec.repro import case_digest
from bisect_tool.store import leases as module
from bisect_tool.store import tables
from bisect_tool.store.address import file_address
from bisect_tool.store.results import Results, StoredTrial, open_results
from bisect_tool.trials.observation import Observation
from tests.rig.histories import History, joined, stepwise
from tests.rig.scripted_executor import Run, ScriptedExecutor
from tests.search.searching import all_ends

A, B = frozenset({"A"}), frozenset({"B"})
ONE = stepwise([(13, "pass"), (9, A)])
TWO = joined(stepwise([(13, "pass"), (9, A)], "a"), stepwise([(5, "pass"), (17, B)], "b"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "results.sqlite"
    open_results(path, nullcontext).close()
    return path


@pytest.fixture
def shared(tmp_path: Path, empty: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Results]:
    """Opens the database, as a host does."""
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    shutil.copy(empty, tmp_path / "shared.sqlite")
    address = file_address(tmp_path / "shared.sqlite", is_own=False)
    return lambda: open_results(address, nullcontext, span=1000.0)


def host(results: Results, folder: Path, histories: Sequence[History], seed: int, slots: int = 1) -> Run:
    states = {case: row for history in histories for case, row in history.states.items()}
    holes = frozenset[int]().union(*(history.holes for history in histories))
    executor = ScriptedExecutor(History(states, holes), slots, random.Random(seed))
    (folder / f"host{seed}").mkdir()
    return Run(histories, folder / f"host{seed}", results, executor, name=f"run{seed}")


def stored(results: Results) -> Counter[tuple[str, str]]:
    table = tables.trials
    with results.engine.connect() as connection:
        return Counter((row[0], row[1]) for row in connection.execute(select(table.c.case_name, table.c.version)))


@pytest.mark.parametrize(("histories", "slots"), [([ONE], 1), ([ONE], 3), ([TWO], 2), ([ONE, TWO], 2)])
def test_two_hosts_at_once_make_no_trial_twice(
    tmp_path: Path, shared: Callable[[], Results], histories: list[History], slots: int
) -> None:
    with ExitStack() as stack:
        results = [stack.enter_context(shared()) for _ in range(2)]
        hosts = [host(one, tmp_path, histories, seed, slots) for seed, one in enumerate(results)]
        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(Run.go, hosts))
        made = Counter(trial for one in hosts for trial in one.executor.ran)
        assert stored(results[0]) == made
        # Both sides of a change are looked at three times; several slots may begin that where there turns out to be none.
        assert set(made.values()) <= ({1, 3} if slots == 1 else {1, 2, 3})
        answers = [[all_ends(session.answer()) for session in sessions] for sessions in ended]
        assert answers[0] == answers[1]
        with results[0].engine.connect() as connection:
            assert connection.execute(select(tables.leases)).all() == []


def test_a_host_that_lost_its_turn_takes_what_the_other_found(tmp_path: Path, shared: Callable[[], Results]) -> None:
    with shared() as results, shared() as others:
        run, taken = host(results, tmp_path, [ONE], 0), list[str]()
        session = run.sessions()[0]
        versions = [build.version for build in session.asked.builds]

        def take_over(_case: str, version: str) -> None:
            if not taken:
                taken.append(version)
                work_instead(others, of_another(session, versions.index(version)))

        run.executor.at_trial = take_over
        (session,) = run.go()
        assert session.turns_lost == 1
        assert any("taken its work over" in one.text for one in run.told if isinstance(one, events.Notice))
        assert all_ends(session.answer()) == [("exact", 12, 13), ("open", 21, None)]
        # One trial of the other host, and one of this one that does not count.
        assert stored(results) == Counter(run.executor.ran)


def work_instead(others: Results, trial: StoredTrial) -> None:
    """Another host finds the only lease silent, takes the work over, and does it."""
    with others.engine.begin() as connection:
        key = connection.execute(select(tables.leases.c.key)).scalar_one()
        connection.execute(update(tables.leases).values(beat=0))
    assert others.leases is not None
    lease = others.leases.take(key, "the same")
    assert lease is not None
    others.add_trial(trial, lease)
    others.leases.release(lease)


def of_another(session: Session, number: int) -> StoredTrial:
    """What the other host finds: the case passes there."""
    asked = session.asked
    (case,) = asked.spec.cases
    observation = as_values(Observation(0, duration=1.0))
    digest, version = case_digest(case, asked.spec), asked.builds[number].version
    about = (session.subject(number), asked.repro.digest, digest, case.name, "toy", version)
    return StoredTrial(*about, observation, "trials/of-another", "c", 1.0)


def test_what_another_host_is_at_is_left_to_that_one(tmp_path: Path, shared: Callable[[], Results]) -> None:
    with shared() as results, shared() as others:
        session, _ = host(results, tmp_path, [ONE, TWO], 0).sessions()
        ours, theirs = (Turns(one.leases, lambda _event: None) for one in (results, others))
        with ExitStack() as stack, ExitStack() as their_stack:
            assert theirs.take(their_stack, session, 3)
            assert not ours.take(stack, session, 3)
            assert ours.lease_of(session) is None
            assert ours.take(stack, session, 4)
            assert ours.take(stack, session, 4)
            their_stack.close()
            assert ours.take(stack, session, 3)
            assert ours.lease_of(session) is not None
        assert ours.lease_of(session) is None
