"""Numbers that decide: toy builds that report values, compared with a reference build."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from tests.integration.conftest import Place, history, kill
from tests.integration.test_run import ends, states

MAIN = [{"name": "main", "args": ["main"]}]
LATENCY = {"name": "latency_ms", "ratio": 1.1, "unit": "ms"}
ONCE = ("--verify", "0")


def values(numbers: Mapping[int, str], more: Mapping[int, Any] | None = None) -> dict[int, Any]:
    """Builds that report a latency, by number; `more` replaces some."""
    return {number: {"main": f"value latency_ms {text}"} for number, text in numbers.items()} | dict(more or {})


def slower_from(first: int, count: int, noise: float = 0.01) -> dict[int, Any]:
    return values({number: f"{13.1 if number >= first else 10} {noise}" for number in range(count)})


def trials(place: Place) -> list[tuple[str, str]]:
    with sqlite3.connect(place.cache / "results.sqlite") as connection:
        return connection.execute(
            "SELECT version, observation ->> '$.measured.side' FROM trials ORDER BY id"
        ).fetchall()


def count(place: Place) -> int:
    try:
        return len(trials(place))
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_the_build_where_a_number_rose(place: Place) -> None:
    place.publish(history(4, slower_from(2, 4)))
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), "--verify", "1")
    assert ends(answer) == [("exact", "1.1", "1.2", "open", "1.3", None)]
    (failure,) = answer["failures"]
    assert failure["name"] == "latency_ms above 1.1x of 1.0"
    assert failure["signature"]["kind"] == "metric"
    assert "latency_ms is 1.3" in failure["signature"]["title"]
    assert states(answer) == {"1.0": "pass", "1.1": "pass", "1.2": "failing", "1.3": "failing"}
    # Both sides of the change were compared twice, both ends once, each time with six pairs.
    assert answer["counts"]["trials"] == 6 * 12
    again = place.answer("run", place.specs / "toy-spec", "--verify", "1")
    assert again["counts"]["trials"] == 0
    assert again["failures"] == answer["failures"]


def test_the_trials_are_made_in_turn(place: Place) -> None:
    place.publish(history(2, slower_from(1, 2)))
    place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), *ONCE)
    made = [trial for trial in trials(place) if trial[0] != "1.0"]
    first = trials(place)
    start = first.index(made[0])
    own, other = ("1.1", "build"), ("1.0", "reference")
    assert first[start : start + 12] == [own, other, other, own] * 3


def test_another_ratio_is_judged_from_the_same_trials(place: Place) -> None:
    place.publish(history(2, slower_from(1, 2)))
    place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), *ONCE)
    lenient = place.spec(cases=MAIN, metrics=[LATENCY | {"ratio": 2}], from_="1.0")
    answer = place.answer("run", lenient, *ONCE, status=4)
    assert (answer["failures"], answer["counts"]["trials"]) == ([], 0)
    assert states(answer) == {"1.0": "pass", "1.1": "pass"}


def test_less_can_be_what_is_looked_for(place: Place) -> None:
    place.publish(history(3, {number: {"main": f"value speed {8 if number < 1 else 10} 0.01"} for number in range(3)}))
    metric = {"name": "speed", "ratio": 0.9, "reference": "to"}
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[metric], from_="1.0"), *ONCE)
    assert ends(answer) == [("open", None, "1.0", "exact", "1.0", "1.1")]
    assert answer["failures"][0]["name"] == "speed below 0.9x of 1.2"


def test_a_build_that_crashes_is_compared_with_nothing(place: Place) -> None:
    place.publish(history(2, values({0: "10"}, {1: {"main": "RuntimeError: boom"}})))
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), *ONCE)
    assert ends(answer) == [("exact", "1.0", "1.1", "open", "1.1", None)]
    assert answer["failures"][0]["signature"]["types"] == ["RuntimeError"]
    assert [version for version, _ in trials(place)].count("1.1") == 1


def test_too_much_spread_is_no_verdict(place: Place) -> None:
    """The build takes 3 ms and 30 ms in turn, its reference always 10 ms."""
    script = (
        "import json, os, toy\nfrom pathlib import Path\n"
        "counter = Path(os.environ['COUNTER']) / toy.__version__\n"
        "count = int(counter.read_text()) if counter.exists() else 0\ncounter.write_text(str(count + 1))\n"
        "value = (3, 30)[count % 2] if toy.__version__ == '1.1' else 10\n"
        "with open(os.environ['BISECT_CHECKS'], 'a') as file:\n"
        "    file.write(json.dumps({'check': 'latency_ms', 'value': value}) + '\\n')\n"
    )
    place.publish(history(3, {}))
    (place.root / "counts").mkdir()
    metric = LATENCY | {"trials": {"most": 8}}
    spec = place.spec(
        script=script, env={"COUNTER": str(place.root / "counts")}, cases=MAIN, metrics=[metric], from_="1.0"
    )
    answer = place.answer("run", spec, status=4)
    assert states(answer) == {"1.0": "pass", "1.1": "untestable", "1.2": "pass"}
    reason = answer["cases"][0]["timeline"][1]["reason"]
    assert reason.startswith("`latency_ms` spreads too much to tell after 8 trials of each build: between ")


def test_a_number_that_is_not_reported_is_no_verdict(place: Place) -> None:
    place.publish(history(3, values({0: "10", 2: "10"})))
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), status=4)
    assert answer["cases"][0]["timeline"][1]["reason"] == "on 1.1: no number `latency_ms` was reported"


def test_a_reference_that_cannot_be_used_ends_the_search(place: Place) -> None:
    place.publish(history(9, values(dict.fromkeys(range(9), "10")), requires={0: ("no-such-package-anywhere",)}))
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), status=5)
    assert set(states(answer).values()) == {"untestable"}
    assert "the reference build 1.0 cannot be used" in answer["cases"][0]["timeline"][4]["reason"]
    assert answer["counts"]["builds_installed"] <= 1


def test_a_reference_that_fails_is_no_verdict_on_others(place: Place) -> None:
    place.publish(history(3, values({1: "10", 2: "10"}, {0: {"main": "RuntimeError: boom"}})))
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0"), status=5)
    assert states(answer) == {"1.0": "failing", "1.1": "untestable", "1.2": "untestable"}
    reason = answer["cases"][0]["timeline"][2]["reason"]
    assert reason == "the reference build 1.0 did not pass: RuntimeError: boom"


def test_the_memory_of_a_trial_needs_no_report(place: Place) -> None:
    place.publish(history(2, {1: {"main": "memory 60"}}))
    metric = {"name": "peak_memory_bytes", "ratio": 1.5}
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[metric], from_="1.0"), *ONCE)
    assert ends(answer) == [("exact", "1.0", "1.1", "open", "1.1", None)]


def test_an_error_that_may_be_zero_has_a_floor(place: Place) -> None:
    place.publish(history(2, {0: {"main": "value error 0"}, 1: {"main": "value error 3e-4"}}))
    metric = {"name": "error", "ratio": 10}
    without = place.answer("run", place.spec(cases=MAIN, metrics=[metric], from_="1.0"), status=5)
    assert "give the metric a `floor`" in without["cases"][0]["timeline"][0]["reason"]
    answer = place.answer("run", place.spec(cases=MAIN, metrics=[metric | {"floor": 1e-6}], from_="1.0"), *ONCE)
    assert ends(answer) == [("exact", "1.0", "1.1", "open", "1.1", None)]


def test_killed_in_the_middle_of_a_comparison_it_goes_on(place: Place) -> None:
    place.publish(history(2, slower_from(1, 2)))
    spec = place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0")
    for enough in (3, 8, 15):
        process = place.start("run", spec, "--quiet", *ONCE)
        while count(place) < enough:
            time.sleep(0.02)
            assert process.poll() is None
        kill(process)
    answer = place.answer("run", spec, *ONCE)
    assert ends(answer) == [("exact", "1.0", "1.1", "open", "1.1", None)]
    # Two comparisons of six pairs; each kill may have left half a pair, which is not continued.
    assert 24 <= count(place) <= 27


def test_two_runs_at_once_share_their_comparisons(place: Place) -> None:
    place.publish(history(2, slower_from(1, 2)))
    spec = place.spec(cases=MAIN, metrics=[LATENCY], from_="1.0")
    runs = [place.start("run", spec, "--quiet", *ONCE) for _ in range(2)]
    assert [run.wait(timeout=300) for run in runs] == [0, 0]
    for run in runs:
        run.communicate()
    assert count(place) == 24


def test_a_metric_that_cannot_be_compared_is_told_before_anything_is_installed(place: Place) -> None:
    place.publish(history(3, {}))
    ran = place.run("run", place.spec(cases=MAIN, metrics=[LATENCY]))
    assert ran.status == 10
    assert "`latency_ms` is compared with the build `from`, but the range has no `from`" in ran.err
    ran = place.run("run", place.spec(cases=MAIN, metrics=[LATENCY | {"reference": "9"}], from_="1.0"))
    assert ran.status == 10
    assert "name one from 1.0 to 1.2, or widen the range" in ran.err
