"""Whole runs over toy builds from the rig's index, with real uv and real processes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from typing import Any

from tests.integration.conftest import Place, failing, history, kill
from tests.rig.index import RequestKind


def states(answer: dict[str, Any], case: str = "main") -> dict[str, str]:
    timeline = next(one["timeline"] for one in answer["cases"] if one["name"] == case)
    return {entry["build"]: entry["state"] for entry in timeline}


def ends(answer: dict[str, Any], number: int = 0) -> list[tuple[Any, ...]]:
    return [
        (
            episode["appeared"]["kind"],
            episode["appeared"]["last_without"],
            episode["appeared"]["first_with"],
            episode["fixed"]["kind"],
            episode["fixed"]["last_with"],
            episode["fixed"]["first_without"],
        )
        for episode in answer["failures"][number]["episodes"]
    ]


MAIN = [{"name": "main", "args": ["main"]}]


def test_a_failure_that_appeared(place: Place) -> None:
    place.publish(history(12, failing(range(7, 12))))
    answer = place.answer("run", place.spec(cases=MAIN))
    assert ends(answer) == [("exact", "1.6", "1.7", "open", "1.11", None)]
    assert answer["outcome"] == "exact"
    assert answer["failures"][0]["signature"]["types"] == ["RuntimeError"]
    assert answer["counts"]["builds_considered"] == 12
    assert answer["counts"]["builds_installed"] == 5


def test_a_fix_is_found_by_the_same_search(place: Place) -> None:
    place.publish(history(9, failing(range(4))))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"))
    assert ends(answer) == [("open", None, "1.0", "exact", "1.3", "1.4")]


def test_the_second_run_needs_no_trial_no_install_and_no_wheel(place: Place) -> None:
    place.publish(history(8, failing(range(5, 8))))
    spec = place.spec(cases=MAIN)
    first = place.answer("run", spec)
    wheels = place.index.log.count(RequestKind.FILE)
    second = place.answer("run", spec)
    assert second["counts"]["trials"] == 0
    assert second["counts"]["builds_installed"] == 0
    assert second["counts"]["trials_known"] == first["counts"]["trials"]
    assert second["failures"] == first["failures"]
    assert place.index.log.count(RequestKind.FILE) == wheels


def test_a_changed_script_is_a_new_question(place: Place) -> None:
    place.publish(history(3, failing([2])))
    spec = place.spec(cases=MAIN)
    place.answer("run", spec)
    script = spec.parent / "repro.py"
    script.write_text(script.read_text() + "# changed\n")
    assert place.answer("run", spec)["counts"]["trials"] > 0


def test_a_changed_helper_module_is_a_new_question(place: Place) -> None:
    place.publish(history(2, {}))
    spec = place.spec(script="import helper, toy\nhelper.go()\n")
    (spec.parent / "helper.py").write_text("def go():\n    pass\n")
    assert place.answer("run", spec, status=4)["outcome"] == "no change"
    (spec.parent / "helper.py").write_text("def go():\n    raise ValueError('now it fails')\n")
    again = place.answer("run", spec, status=4)
    assert again["failures"][0]["signature"]["message"] == "now it fails"


def test_a_wheel_replaced_under_the_same_name_is_a_new_build(place: Place) -> None:
    place.publish(history(4, failing([3])))
    spec = place.spec(cases=MAIN)
    assert ends(place.answer("run", spec)) == [("exact", "1.2", "1.3", "open", "1.3", None)]
    place.publish(history(4, failing([2, 3])))
    assert ends(place.answer("run", spec)) == [("exact", "1.1", "1.2", "open", "1.3", None)]


def test_every_transition_of_every_case_with_one_set_of_installs(place: Place) -> None:
    behaviour: dict[int, Any] = {number: {"a": "RuntimeError: a broke"} for number in range(10, 16)}
    for number in range(4, 16):
        behaviour.setdefault(number, {})["b"] = "ValueError: b broke"
    place.publish(history(16, behaviour))
    cases = [{"name": "a", "args": ["a"]}, {"name": "b", "args": ["b"]}]
    answer = place.answer("run", place.spec(cases=cases, from_="1.0"))
    found = {failure["case"]: failure["episodes"][0]["appeared"] for failure in answer["failures"]}
    assert (found["a"]["last_without"], found["a"]["first_with"]) == ("1.9", "1.10")
    assert (found["b"]["last_without"], found["b"]["first_with"]) == ("1.3", "1.4")
    assert answer["counts"]["builds_installed"] <= 9


def test_one_failure_that_hides_another(place: Place) -> None:
    behaviour = failing(range(4, 8)) | failing(range(8, 12), "ImportError: cannot import name 'x'")
    place.publish(history(12, behaviour))
    answer = place.answer("run", place.spec(cases=MAIN, failures=[{"name": "zero", "match": "all zero"}], from_="1.0"))
    by_name = {failure["name"]: failure for failure in answer["failures"]}
    zero = by_name.pop("zero")["episodes"][0]
    other = next(iter(by_name.values()))
    assert zero["appeared"]["first_with"] == "1.4"
    assert (zero["fixed"]["last_with"], zero["fixed"]["first_without"]) == ("1.7", "1.8")
    assert zero["fixed"]["changed_into"] == [other["id"]]


def test_a_failing_control_makes_a_build_untestable(place: Place) -> None:
    behaviour: dict[int, Any] = failing(range(6, 12))
    for number in (5, 6):
        behaviour[number] = {**behaviour.get(number, {}), "eager": "RuntimeError: eager is broken too"}
    place.publish(history(12, behaviour))
    cases = [*MAIN, {"name": "eager", "args": ["eager"], "role": "control"}]
    answer = place.answer("run", place.spec(cases=cases, from_="1.0"), status=3)
    appeared = answer["failures"][0]["episodes"][0]["appeared"]
    assert (appeared["kind"], appeared["last_without"], appeared["first_with"]) == ("narrowed", "1.4", "1.7")
    assert appeared["untestable"] == ["1.5", "1.6"]
    assert "eager" in appeared["holes"][0]["reason"]
    assert states(answer)["1.5"] == "untestable"


def test_exit_125_and_a_build_that_cannot_be_installed_are_untestable(place: Place) -> None:
    behaviour = failing(range(5, 9)) | {4: {"main": "exit 125"}}
    place.publish(history(9, behaviour, requires={5: ("no-such-package-anywhere",)}))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"), status=3)
    appeared = answer["failures"][0]["episodes"][0]["appeared"]
    assert (appeared["last_without"], appeared["first_with"]) == ("1.3", "1.6")
    assert appeared["untestable"] == ["1.4", "1.5"]
    assert "no-such-package-anywhere" in appeared["holes"][1]["reason"]


def test_checks_of_one_run_are_several_failures(place: Place) -> None:
    behaviour = {number: {"main": ["check ok forward", "check failed grad: is zero"]} for number in (2, 3)}
    place.publish(history(4, behaviour))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"))
    assert answer["failures"][0]["signature"]["kind"] == "check"
    assert ends(answer) == [("exact", "1.1", "1.2", "open", "1.3", None)]


def test_a_crash_and_a_hang_have_names(place: Place) -> None:
    place.publish(history(3, {1: {"main": "SIGSEGV"}, 2: {"main": "hang"}}))
    answer = place.answer("run", place.spec(cases=MAIN, timeout=3, from_="1.0"))
    kinds = {failure["signature"]["kind"] for failure in answer["failures"]}
    assert kinds == {"signal", "timeout"}


def test_an_open_start_walks_back(place: Place) -> None:
    place.publish(history(40, failing(range(33, 40))))
    answer = place.answer("run", place.spec(cases=MAIN))
    assert ends(answer) == [("exact", "1.32", "1.33", "open", "1.39", None)]
    assert states(answer)["1.0"] == "not tried"


def test_nothing_changes(place: Place) -> None:
    place.publish(history(5, {}))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"), status=4)
    assert answer["failures"] == []


def test_nothing_can_be_judged(place: Place) -> None:
    place.publish(history(5, {number: {"main": "exit 125"} for number in range(5)}))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"), status=5)
    assert set(states(answer).values()) == {"untestable"}


def test_a_flaky_failure_is_called_flaky(place: Place) -> None:
    script = (
        "import os, sys, toy\nfrom pathlib import Path\n"
        "counter = Path(os.environ['COUNTER']) / toy.__version__\n"
        "count = int(counter.read_text()) if counter.exists() else 0\ncounter.write_text(str(count + 1))\n"
        "if toy.__version__ >= '1.4' and count % 2 == 0:\n    raise RuntimeError('now and then')\n"
    )
    place.publish(history(8, {}))
    (place.root / "counts").mkdir()
    spec = place.spec(script=script, env={"COUNTER": str(place.root / "counts")}, from_="1.0")
    answer = place.answer("run", spec)
    appeared = answer["failures"][0]["episodes"][0]["appeared"]
    assert (appeared["last_without"], appeared["first_with"]) == ("1.3", "1.4")
    assert states(answer, "repro")["1.4"] == "flaky"
    # It failed in two of three trials: five passes in a row are luck with less than one chance in a hundred.
    assert next(e["trials"] for e in answer["cases"][0]["timeline"] if e["build"] == "1.3") >= 5


def test_several_specs_share_their_installs(place: Place) -> None:
    behaviour: dict[int, Any] = {number: {"a": "RuntimeError: a"} for number in range(9, 16)}
    for number in range(6, 16):
        behaviour.setdefault(number, {})["b"] = "ValueError: b"
    place.publish(history(16, behaviour))
    one = place.spec("one", cases=[{"name": "a", "args": ["a"]}], from_="1.0")
    two = place.spec("two", cases=[{"name": "b", "args": ["b"]}], from_="1.0")
    ran = place.run("run", one, two, "--json", place.root / "answers")
    assert ran.status == 0, ran.err
    answers = {name: json.loads((place.root / "answers" / f"{name}.json").read_text()) for name in ("one", "two")}
    assert ends(answers["one"]) == [("exact", "1.8", "1.9", "open", "1.15", None)]
    assert ends(answers["two"]) == [("exact", "1.5", "1.6", "open", "1.15", None)]
    assert (
        sum(answer["counts"]["builds_installed"] for answer in answers.values()) == 9
    )  # 4 and 4 halvings, one shared, 2 ends


def test_a_plain_script(place: Place) -> None:
    place.publish(history(6, failing([3, 4, 5])))
    script = place.root / "my repro.py"
    script.write_text("import toy\ntoy.run('main')\n")
    answer = place.answer("run", script, "--package", "toy", "--from", "1.0", "--to", "1.5", "--device", "cpu")
    assert ends(answer) == [("exact", "1.2", "1.3", "open", "1.5", None)]


def test_a_yanked_version_at_a_boundary_is_told_and_can_be_tested(place: Place) -> None:
    place.publish(history(6, failing([3, 4, 5]), yanked={3: "broken wheels"}))
    spec = place.spec(cases=MAIN, from_="1.0")
    appeared = place.answer("run", spec)["failures"][0]["episodes"][0]["appeared"]
    assert (appeared["last_without"], appeared["first_with"]) == ("1.2", "1.4")
    assert "1.3" in appeared["left_out"][0]
    assert "broken wheels" in appeared["left_out"][0]
    with_yanked = place.answer("run", spec, "--yanked")["failures"][0]["episodes"][0]["appeared"]
    assert with_yanked["first_with"] == "1.3"


def test_dated_nightlies_are_searched_in_the_order_of_their_dates(place: Place) -> None:
    from tests.rig.toy import ToyBuild, day

    builds = [
        ToyBuild(f"0.{8 if number < 5 else 9}.0.dev202601{number + 1:02}", uploaded=day(number + 1),
                 behaviour={"main": "RuntimeError: broke"} if number >= 6 else {})
        for number in range(10)
    ]  # fmt: skip
    place.publish(builds)
    answer = place.answer("run", place.spec(cases=MAIN, from_="2026-01-02", to="2026-01-09"))
    assert ends(answer) == [("exact", "0.9.0.dev20260106", "0.9.0.dev20260107", "open", "0.9.0.dev20260109", None)]


def test_a_wheelhouse_needs_no_network(place: Place) -> None:
    place.publish(history(6, failing([4, 5])))
    spec = place.spec(cases=MAIN, channel="wheelhouse", from_="1.0")
    requests = place.index.log.count()
    answer = place.answer("run", spec, "--wheelhouse", place.index.folder)
    assert ends(answer) == [("exact", "1.3", "1.4", "open", "1.5", None)]
    assert place.index.log.count() == requests


def stored_trials(place: Place) -> list[tuple[str, str, str]]:
    with sqlite3.connect(place.cache / "results.sqlite") as connection:
        return connection.execute("SELECT version, case_name, folder FROM trials ORDER BY id").fetchall()


def test_killed_at_any_point_it_goes_on_and_repeats_nothing(place: Place) -> None:
    place.publish(history(12, failing(range(7, 12))))
    spec = place.spec(cases=MAIN, from_="1.0")
    kills, pause = 0, 0.4
    while True:
        process = place.start("run", spec, "--quiet")
        try:
            _, err = process.communicate(timeout=pause)
        except subprocess.TimeoutExpired:  # kill it there
            kill(process)
            kills += 1
            pause += 0.23
            assert kills < 60
            continue
        assert process.returncode == 0, err
        break
    assert kills >= 3
    reference = place.answer("run", spec)
    assert ends(reference) == [("exact", "1.6", "1.7", "open", "1.11", None)]
    assert reference["counts"]["trials"] == 0
    # Seven builds at most, three trials on both sides of the change, one on the others: none was made twice.
    assert len(stored_trials(place)) == reference["counts"]["trials_known"] <= 11


def test_two_runs_at_once_share_their_work(place: Place) -> None:
    place.publish(history(10, failing(range(6, 10))))
    spec = place.spec(cases=MAIN, from_="1.0")
    runs = [place.start("run", spec, "--json", place.root / f"{n}.json") for n in (1, 2)]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    for run in runs:
        run.communicate()
    answers = [json.loads((place.root / f"{n}.json").read_text()) for n in (1, 2)]
    assert answers[0]["failures"] == answers[1]["failures"]
    versions = [version for version, _, _ in stored_trials(place)]
    assert max(versions.count(version) for version in versions) <= 4


def test_ctrl_c_tells_what_is_known_and_leaves_nothing_running(place: Place) -> None:
    place.publish(history(12, {number: {"main": "sleep 1"} for number in range(12)}))
    process = place.start("run", place.spec(cases=MAIN, from_="1.0"), "--plain")
    time.sleep(4)
    process.send_signal(2)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err + out
