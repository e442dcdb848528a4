from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from bisect_tool.search.explaining import sentences
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.prices import Prices
from bisect_tool.search.record import decision, opening, replayed, text_of
from bisect_tool.search.states import Fail, Pass, Result
from bisect_tool.search.together import Asking, choose
from tests.rig.histories import History, any_history, joined, one_change, stepwise
from tests.search.searching import Search

A = frozenset({"A"})


def recorded(*runs: Search, prices: Prices | None = None, most: int = 400) -> list[str]:
    """The record of several searches over the same builds, made together."""
    names = tuple(f"digest-{build}" for build in range(runs[0].question.size))
    before: list[Known] | None = None
    lines: list[str] = []
    for number in range(1, most):
        knowns = [replace(run.known(), prices=prices or Prices()) for run in runs]
        askings = [Asking(run.question, known, run.policy, names) for run, known in zip(runs, knowns, strict=True)]
        if not lines:
            builds = [[f"2.{build}" for build in range(run.question.size)] for run in runs]
            lines.append(text_of(opening(askings, builds, "1.0")))
        choice = choose(askings)
        lines.append(text_of(decision(number, before, askings, choice)))
        before = knowns
        if choice is None:
            return lines
        runs[choice.asking].serve(choice.probe)
        for run in runs:
            run.installed.add(choice.probe.build)
    raise AssertionError("the search does not end")


def searched(history: History, **more: object) -> Search:
    question = replace(Question(history.n, history.cases), **more)  # type: ignore[arg-type]
    return Search(history, question, Policy(verify=1))


@pytest.mark.parametrize("seed", range(40))
def test_a_record_replays_to_the_byte(seed: int) -> None:
    rng = random.Random(seed)
    lines = recorded(searched(any_history(rng, 40)), prices=Prices(unpack=1 / 3, trials={"main": rng.random()}))
    assert all(stored == again for stored, again in replayed(lines))
    assert json.loads(lines[-1])["choice"] is None


def test_questions_that_run_together_replay_together() -> None:
    runs = [searched(one_change(random.Random(seed), 60)) for seed in range(3)]
    lines = recorded(*runs)
    assert all(stored == again for stored, again in replayed(lines))
    assert {json.loads(line)["choice"]["question"] for line in lines[1:-1]} == {0, 1, 2}


def test_landmarks_weights_and_an_unknown_start_are_in_the_record() -> None:
    run = searched(one_change(random.Random(5), 60), landmarks=(20,), weights=(1.0,) * 60, open_start=True)
    assert all(stored == again for stored, again in replayed(recorded(run)))


def test_a_record_that_was_tampered_with_does_not_replay() -> None:
    lines = recorded(searched(stepwise([(20, "pass"), (20, A)])))
    wrong = [line.replace('[["main",20,[["A"]]]]', '[["main",20,["p"]]]') for line in lines]
    assert wrong != lines
    assert any(stored != again for stored, again in replayed(wrong))


def test_a_record_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format 7"):
        list(replayed(['{"format": 7}']))


def test_a_record_is_small() -> None:
    lines = recorded(searched(one_change(random.Random(1), 366)))
    assert max(map(len, lines[1:])) < 700


def test_a_decision_in_words() -> None:
    lines = [json.loads(line) for line in recorded(searched(stepwise([(20, "pass"), (20, frozenset({"=zero"}))])))]
    told = [list(sentences(lines[0], line, {"=zero": "zero-grad"})) for line in lines[1:]]
    assert told[2] == [
        "  learned: main on 2.39: fails with zero-grad",
        "decision 3: 2.19 for main",
        "  why: split: its two sides differ: something changed between them",
        "  main: between 2.0 and 2.39, 38 untried",
        "  worth 1 bit in 100 s, 1 trial: 0.6 a minute",
    ]
    assert told[-1][-1] == f"decision {len(told)}: nothing is left to run"


def test_builds_that_cannot_be_tested_are_told() -> None:
    history = joined(stepwise([(20, "pass"), (20, A)]), History({"other": ("pass",) * 40}, frozenset({0})))
    lines = [json.loads(line) for line in recorded(searched(history))]
    told = [sentence for line in lines[1:] for sentence in sentences(lines[0], line, {})]
    assert "  learned: 2.0 cannot be tested: cannot be installed" in told


def test_what_was_forgotten_about_a_replaced_build_is_forgotten_by_the_replay() -> None:
    question = Question(9, ("main",))
    names = tuple(f"digest-{build}" for build in range(9))
    fail = Fail(frozenset({"A"}))
    ends: dict[tuple[str, int], tuple[Result, ...]] = {
        ("main", 0): (Pass(),),
        ("main", 8): (fail,),
        ("main", 4): (fail, fail),
    }
    knowns = [Known(), Known(ends, {2: "does not import"}), Known({**ends, ("main", 4): (Pass(),)})]
    askings = [[Asking(question, known, Policy(), names)] for known in knowns]
    lines = [text_of(opening(askings[0], [list(names)], "1.0"))]
    for number, asking in enumerate(askings):
        before = None if number == 0 else [knowns[number - 1]]
        lines.append(text_of(decision(number + 1, before, asking, choose(asking))))
    assert json.loads(lines[-1])["learned"][0]["forgotten"] == [2, 4]
    assert all(stored == again for stored, again in replayed(lines))
    assert json.loads(lines[-1])["choice"]["build"] == 6


@pytest.mark.parametrize("format_", [2, 3])
def test_records_of_the_format_before_are_read(format_: int) -> None:
    lines = recorded(searched(one_change(random.Random(3), 40)))
    lines[0] = text_of({**json.loads(lines[0]), "format": format_})
    assert all(stored == again for stored, again in replayed(lines))


def test_a_policy_of_a_newer_version_is_refused() -> None:
    lines = recorded(searched(one_change(random.Random(3), 40)))
    opened = json.loads(lines[0])
    opened["questions"][0]["policy"]["zeal"] = 3
    with pytest.raises(ValueError, match="a policy with zeal"):
        list(replayed([text_of(opened), *lines[1:]]))
