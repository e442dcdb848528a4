from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from bisect_tool.runs.diagnosing.bisector import (
    Asked,
    Bisection,
    Stopped,
    applications,
    names_of_applications,
    restore_state,
    state_files,
)
from bisect_tool.runs.diagnosing.ladder import Shown
from bisect_tool.runs.diagnosing.naming import Bisected

HAS = {"has": True}
POST = "post_grad_passes"


def ask(
    backend: str,
    subsystem: str | None = None,
    state: str | None = None,
    low: int | None = None,
    high: int | None = None,
) -> dict[str, object]:
    asked = {"backend": backend, "subsystem": subsystem, "state": state, "low": low, "high": high}
    return {"asks": asked, "folder": "/nowhere/bisect"}


def converse(bisection: Bisection, *said: Mapping[str, object]) -> tuple[Bisected | Stopped, list[str]]:
    answers: list[str] = []
    lines: Iterator[str] = iter([json.dumps(one) + "\n" for one in said])
    return bisection.converse(lines, answers.append), answers


def judging(shown: dict[str, Shown]) -> Bisection:
    return Bisection(lambda asked, _folder: (shown[asked.name], "detail"))


def test_the_failure_is_bad_and_a_pass_is_good() -> None:
    bisection = judging({"eager": Shown.PASSES, "inductor": Shown.WANTED})
    result = {"result": {"backend": "inductor", "subsystem": None, "number": None, "what": None}}
    found, answers = converse(bisection, HAS, ask("eager"), ask("inductor"), result)
    assert found == Bisected("inductor")
    assert answers == ["good", "bad"]
    assert bisection.trials == 2


def test_another_failure_stops_it_without_an_answer() -> None:
    bisection = judging({"inductor, lowerings: test_disable": Shown.OTHER})
    found, answers = converse(bisection, HAS, ask("inductor", "lowerings", "test_disable"), {"result": None})
    assert found == Stopped("cannot say: inductor, lowerings: test_disable shows another failure: detail")
    assert answers == ["stop"]


def test_what_the_ladder_has_judged_is_not_run_again() -> None:
    known = {"eager": Shown.PASSES, "aot_eager_decomp_partition": Shown.PASSES, "inductor": Shown.WANTED}
    bisection = Bisection(lambda _asked, _folder: (Shown.OTHER, "must not be run"), known=known)
    asked = [
        ask("eager"),
        ask("aot_eager_decomp_partition"),
        ask("aot_eager_decomp_partition_crossref"),
        ask("inductor"),
    ]
    found, answers = converse(bisection, HAS, *asked, {"result": None})
    assert answers == ["good", "good", "good", "bad"]
    assert bisection.trials == 0
    assert isinstance(found, Stopped)


def test_how_often_a_subsystem_was_applied(tmp_path: Path) -> None:
    (tmp_path / "inductor").mkdir()
    (tmp_path / "inductor" / f"{POST}_bisect_range.txt").write_text("low=0\nhigh=6\n")
    counts = ask("inductor", POST, "find_max_bounds") | {"folder": str(tmp_path)}
    result = {"result": {"backend": "inductor", "subsystem": POST, "number": 2, "what": "pass_a"}}
    bisection = judging({f"inductor, {POST}: find_max_bounds": Shown.WANTED})
    assert converse(bisection, HAS, counts, result)[0] == Bisected("inductor", POST, 2, 7, "pass_a")
    assert applications(tmp_path, Asked("inductor", "lowerings")) == 0


def test_the_record_of_applications_names_passes_and_their_patterns() -> None:
    record = f"{POST}\tremove_noop_ops\n-\t\n*\tnot_ours\n{POST}\tpass_pattern_1\n*\tfold_cat\n*\tfold_cat\n*\tpad\n"
    assert names_of_applications(record, POST) == ["remove_noop_ops", "pass_pattern_1: fold_cat, pad"]
    assert names_of_applications("", POST) == []


def test_the_record_has_a_better_name_than_the_bisector() -> None:
    counts = ask("inductor", POST, "find_max_bounds")
    result = {"result": {"backend": "inductor", "subsystem": POST, "number": 1, "what": None}}
    bisection = Bisection(
        lambda _asked, _folder: (Shown.WANTED, ""), lambda _asked: ["noop", "pass_pattern_1: fold_cat"]
    )
    found, _ = converse(bisection, HAS, counts, result)
    assert isinstance(found, Bisected)
    assert found.what == "pass_pattern_1: fold_cat"


def test_builds_without_a_bisector_and_one_that_breaks() -> None:
    assert converse(judging({}), {"has": False})[0] == Stopped("this build of torch has no compiler bisector")
    broken = converse(judging({}), HAS, {"broken": "RuntimeError: range is not set"})[0]
    assert broken == Stopped("the compiler bisector of this build broke off: RuntimeError: range is not set")
    assert converse(judging({}), HAS)[0] == Stopped("the compiler bisector ended without a result")
    assert "cannot see this failure" in str(converse(judging({}), HAS, {"result": None})[0])


def test_it_does_not_ask_without_end() -> None:
    bisection = Bisection(lambda _asked, _folder: (Shown.WANTED, ""))
    found, answers = converse(bisection, HAS, *[ask("inductor", POST, "bisect", 0, 9) for _ in range(80)])
    assert isinstance(found, Stopped)
    assert answers.count("bad") == 64


def test_its_state_can_be_put_back(tmp_path: Path) -> None:
    restore_state(
        tmp_path / "one", {"bisect_status.txt": "backend=inductor\n", "inductor/x_bisect_range.txt": "low=0\n"}
    )
    assert state_files(tmp_path / "one") == {
        "bisect_status.txt": "backend=inductor\n",
        "inductor/x_bisect_range.txt": "low=0\n",
    }
