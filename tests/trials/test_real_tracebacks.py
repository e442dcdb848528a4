"""What real torch releases printed (`tracebacks/`, made by `make_corpus.py`), and whether it is told apart."""

from __future__ import annotations

import json
import re
import signal
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault, Passed
from bisect_tool.trials.judge import judge
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.traceback_text import parse

CUT = re.compile(r"^… \d+ bytes cut …$", re.MULTILINE)
CORPUS = Path(__file__).parent / "tracebacks"

# Bugs of the corpus that differ in how an exception travels and not in the exception itself: one failure, on purpose.
SAME_EXCEPTION = (
    frozenset({"index-out-of-range", "thread-pool", "exception-group"}),
    frozenset({"matmul-shape-eager", "raise-from-two"}),
    frozenset({"matmul-dtype-eager", "matmul-dtype-compile"}),
)

# Bugs for which torch itself came to raise another exception: how many different ones, from the oldest release on.
REPLACED = {
    "associative-scan-on-cpu": 3,  # a ValueError before lowering (`on CUDA`, later `on CUDA or XPU`), then one while lowering
    "recompile-limit": 2,  # FailOnRecompileLimitHit alone, later caused by Unsupported
    "export-input-shape": 2,  # a RuntimeError of the checks of an exported program, later an AssertionError of its guards
}


@dataclass(frozen=True)
class Sample:
    bug: str
    release: str
    observation: Observation

    def verdict(self, *, by_text: bool = False) -> str:
        """The identity of what was found; for a trial that shows no failure, its kind."""
        observation = replace(self.observation, chain=()) if by_text else self.observation
        match judge(observation, []):
            case Failed(failures=(failure,)):
                return failure.id
            case Passed() | CannotJudge() | MachineAtFault() | Failed() as other:
                return type(other).__name__


def read_chain(path: Path) -> tuple[Raised, ...]:
    if not path.exists():
        return ()
    chain: list[dict[str, Any]] = json.loads(path.read_text())["chain"]
    return tuple(
        Raised(one["type"], one["message"], one["relation"], tuple((file, name) for file, name in one["frames"]))
        for one in chain
    )


def read_sample(entry: dict[str, Any]) -> Sample:
    text = CORPUS / entry["bug"] / f"{entry['release']}.txt"
    observation = Observation(
        entry["exit"],
        signal.Signals[entry["signal"]] if entry["signal"] else None,
        output=text.read_text(errors="replace"),
        chain=read_chain(text.with_suffix(".json")),
    )
    return Sample(entry["bug"], entry["release"], observation)


SAMPLES = [read_sample(entry) for entry in json.loads((CORPUS / "corpus.json").read_text())]
# The corpus leaves out the middle of long outputs, and with it sometimes the exception.
WITH_CHAIN = [sample for sample in SAMPLES if sample.observation.chain and not CUT.search(sample.observation.output)]


def name(sample: Sample) -> str:
    return f"{sample.bug}-{sample.release}"


def test_there_are_enough_real_tracebacks() -> None:
    assert len({sample.bug for sample in WITH_CHAIN}) >= 30


@pytest.mark.parametrize("sample", WITH_CHAIN, ids=name)
def test_the_text_gives_the_same_types_and_relations_as_the_hook(sample: Sample) -> None:
    by_text = [(raised.type, raised.relation) for raised in parse(sample.observation.output)]
    assert by_text == [(raised.type, raised.relation) for raised in sample.observation.chain]


@pytest.mark.parametrize("sample", WITH_CHAIN, ids=name)
def test_the_text_gives_the_same_identity_as_the_hook(sample: Sample) -> None:
    assert sample.verdict(by_text=True) == sample.verdict()


def verdicts_by_release(bug: str) -> list[str]:
    """What was found on each release that the corpus has for `bug`, oldest first."""
    samples = sorted((sample for sample in SAMPLES if sample.bug == bug), key=lambda sample: Version(sample.release))
    return [sample.verdict() for sample in samples]


@pytest.mark.parametrize("bug", sorted({sample.bug for sample in SAMPLES}))
def test_one_bug_is_one_failure_on_all_releases(bug: str) -> None:
    in_order = [verdict for verdict, _ in groupby(verdicts_by_release(bug))]
    assert len(in_order) <= REPLACED.get(bug, 1)
    assert len(set(in_order)) == len(in_order)


def test_different_bugs_are_different_failures() -> None:
    bugs = defaultdict[str, set[str]](set)
    for sample in SAMPLES:
        bugs[sample.verdict()].add(sample.bug)
    groups = [found for verdict, found in bugs.items() if verdict not in {"MachineAtFault", "CannotJudge"}]
    assert [found for found in groups if len(found) > 1 and not any(found <= known for known in SAME_EXCEPTION)] == []


def test_no_driver_and_a_kill_blame_the_machine() -> None:
    found = {sample.bug for sample in SAMPLES if sample.verdict() == "MachineAtFault"}
    assert found == {"no-driver", "killed"}
