"""Runs whose trials are forked where they may be, over toy builds of a moment each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.runs import starting
from bisect_tool.runs.session import SeenTrial
from bisect_tool.runs.starting import can_be_forked, disagreement
from bisect_tool.search.policy import Policy
from bisect_tool.spec.model import Case, Metric, Spec
from bisect_tool.trials.failure import Failed, FoundFailure, Passed, Signature, SignatureKind, Verdict
from tests.rig.direct_runs import DirectRuns, direct_runs, ends

COUNT, CHANGE = 7, 4
CASES = [{"name": one, "args": [one]} for one in ("eager", "inductor")]
SCRIPT = """import torch
import os, sys
number = int(torch.__version__.partition(".")[2])
is_forked = "warm_server" in open("/proc/self/cmdline").read()
with open(os.environ["TORCHINDUCTOR_CACHE_DIR"] + "/kernel", "a") as file:
    print("compiled", file=file)
print("found", open(file.name).read().count("compiled"))
if sys.argv[1] == "inductor" and {condition}:
    raise RuntimeError("gradient is all zero")
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DirectRuns]:
    monkeypatch.setattr(starting, "WORTH", 0.0)  # toy trials are short
    with direct_runs(tmp_path, COUNT) as runs:
        yield runs


def found(runs: DirectRuns, version: str) -> list[str]:
    """What the trials of the case `inductor` on a build found in their caches, oldest first."""
    commands = [(folder, (folder / "command.sh").read_text()) for folder in runs.folders()]
    return [
        (folder / "log.txt").read_text().split("\n", 1)[0]
        for folder, command in commands
        if f"toy-{version}-" in command and "repro.py inductor" in command
    ]


def test_forked_trials_find_the_same_and_fresh_ones_confirm_it(runs: DirectRuns) -> None:
    report = runs.search(SCRIPT.format(condition=f"number >= {CHANGE}"), cases=CASES)
    assert found(runs, f"1.{CHANGE}") == ["found 1", "found 1", "found 1"]
    assert ends(report) == [(f"1.{CHANGE - 1}", f"1.{CHANGE}", "exact")]
    forked = [trial["warm"] for trial in runs.trials()].count(True)
    assert 4 <= forked <= len(runs.trials()) - 8  # two ends and two verified builds, two cases each, start fresh
    (note,) = [note for note in report.advice if "forked" in note]
    assert note.startswith(f"{forked} trials were forked from a process that had imported")


def test_forks_that_tell_something_else_do_not_count(runs: DirectRuns) -> None:
    """Every fork fails; the change that they show is none, and the real one is found by trials that start fresh."""
    report = runs.search(SCRIPT.format(condition=f"(is_forked or number >= {CHANGE})"), cases=CASES)
    assert ends(report) == [(f"1.{CHANGE - 1}", f"1.{CHANGE}", "exact")]
    (note,) = [note for note in report.advice if "forked" in note]
    assert "did something else when it was forked than when it started fresh" in note
    again = runs.search(SCRIPT.format(condition=f"(is_forked or number >= {CHANGE})"), cases=CASES)
    assert (ends(again), again.counts.trials) == (ends(report), 0)


def test_a_control_that_fails_in_forks_alone_takes_no_build_away(runs: DirectRuns) -> None:
    script = (
        SCRIPT.format(condition=f"number >= {CHANGE}") + "if sys.argv[1] == 'eager' and is_forked: sys.exit('broken')\n"
    )
    cases = [{**CASES[0], "role": "control"}, CASES[1]]
    assert ends(runs.search(script, cases=cases)) == [(f"1.{CHANGE - 1}", f"1.{CHANGE}", "exact")]


def test_what_is_not_verified_is_not_forked(runs: DirectRuns) -> None:
    runs.search(SCRIPT.format(condition=f"number >= {CHANGE}"), cases=CASES, policy=Policy(verify=0))
    assert not any(trial["warm"] for trial in runs.trials())


def test_shared_caches_are_those_of_one_build_and_fresh_at_its_verification(runs: DirectRuns) -> None:
    runs.search(SCRIPT.format(condition=f"number >= {CHANGE}"), cases=CASES, share_caches=True)
    assert found(runs, f"1.{CHANGE}") == ["found 1", "found 1", "found 2"]
    assert list(runs.folder.glob("cache/environments/*/scratch/caches-*")) == []


def seen(verdict: Verdict, *, warm: bool) -> SeenTrial:
    return SeenTrial(verdict, 1.0, "", "", warm=warm)


def failed(name: str) -> Failed:
    return Failed((FoundFailure(name, Signature(SignatureKind.EXIT), ""),))


@pytest.mark.parametrize(
    ("fresh", "forked", "differs"),
    [
        ([Passed()], [Passed()], False),
        ([Passed()], [failed("a")], True),
        ([failed("a")], [failed("b")], True),
        ([failed("a")], [failed("a"), Passed()], True),
        ([Passed(), failed("a")], [failed("a")], False),
        ([], [failed("a"), Passed()], False),
        ([failed("a")], [], False),
    ],
)
def test_disagreement(fresh: list[Verdict], forked: list[Verdict], differs: bool) -> None:  # noqa: FBT001
    trials = [*(seen(one, warm=False) for one in fresh), *(seen(one, warm=True) for one in forked)]
    assert disagreement(trials) is differs


TWO = (Case(name="a"), Case(name="b"))


@pytest.mark.parametrize(
    ("keys", "can"),
    [
        ({"cases": TWO}, True),
        ({"cases": TWO, "warm": "off"}, False),
        ({"cases": TWO, "flaky": "yes"}, False),
        ({"cases": TWO, "metrics": (Metric(name="latency", ratio=1.1),)}, False),
        ({"cases": TWO[:1]}, False),
        ({"cases": (TWO[0], Case(name="b", env={"TORCH_LOGS": "+all"}))}, False),
        ({"cases": (*TWO, Case(name="c", env={"TORCH_LOGS": "+all"}))}, True),
    ],
)
def test_which_cases_can_be_forked(keys: dict[str, Any], can: bool) -> None:  # noqa: FBT001
    spec = Spec(name="x", script="repro.py", **keys)
    assert can_be_forked(spec, spec.cases[0]) is can
