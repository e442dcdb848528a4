"""Real failures of CUDA: what the scripts in `repros/` do to a GPU is told apart, each by words of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bisect_tool.trials.failure import CannotJudge, Failed, Passed, SignatureKind
from tests.gpu.conftest import Run

REPROS = sorted((Path(__file__).parent / "repros").glob("*.py"))
HANGS = 25.0  # seconds after which a hang is one: importing torch and making a context take 10
# A word in the name of a script, and what its failure must say: kind and words of the title or text.
EXPECTED: tuple[tuple[str, SignatureKind, str], ...] = (
    ("assert", SignatureKind.EXCEPTION, r"device-side assert"),
    ("illegal", SignatureKind.EXCEPTION, r"illegal memory access|illegal address"),
    ("misaligned", SignatureKind.EXCEPTION, r"misaligned address"),
    ("launch", SignatureKind.EXCEPTION, r"invalid configuration|launch"),
    ("ptxas", SignatureKind.EXCEPTION, r"ptxas|PTXASError|ptx"),
    ("hang", SignatureKind.TIMEOUT, r"timeout"),
    ("nan", SignatureKind.EXIT, r"(?i)nan"),
)
NOT_JUDGED = ("oom", "memory_of", "out_of_memory")


def is_right(path: Path) -> bool:
    return path.stem.startswith("passes")


def is_memory(path: Path) -> bool:
    return any(word in path.stem.lower() for word in NOT_JUDGED)


def expected_of(path: Path) -> tuple[SignatureKind, str] | None:
    return next(((kind, words) for part, kind, words in EXPECTED if part in path.stem.lower()), None)


@pytest.mark.parametrize("path", [path for path in REPROS if is_right(path)], ids=lambda path: path.stem)
def test_what_is_right_passes(path: Path, run: Run) -> None:
    observation, verdict = run(path)
    assert verdict == Passed(), observation.output


@pytest.mark.parametrize("path", [path for path in REPROS if expected_of(path)], ids=lambda path: path.stem)
def test_a_failure_of_cuda_is_told_by_its_own_words(path: Path, run: Run) -> None:
    expected = expected_of(path)
    assert expected is not None
    kind, words = expected
    observation, verdict = run(path, timeout=HANGS if kind is SignatureKind.TIMEOUT else 120)
    assert isinstance(verdict, Failed), f"{verdict}\n{observation.output[-3000:]}"
    (failure,) = verdict.failures
    kinds = {kind, SignatureKind.CHECK} if kind is SignatureKind.EXIT else {kind}
    assert failure.signature.kind in kinds, failure
    assert re.search(words, f"{failure.signature.title}\n{failure.text}"), failure


def has_words(path: Path) -> bool:
    """Whether the failure is known by what it says; a timeout is by its length alone, and out of memory is none."""
    expected = expected_of(path)
    return expected is not None and expected[0] is not SignatureKind.TIMEOUT and not is_memory(path)


@pytest.mark.parametrize("path", [path for path in REPROS if has_words(path)], ids=lambda path: path.stem)
def test_the_same_failure_has_the_same_identity_twice(path: Path, run: Run) -> None:
    verdicts = [run(path)[1] for _ in range(2)]
    assert all(isinstance(verdict, Failed) for verdict in verdicts)
    ids = [tuple(one.id for one in verdict.failures) for verdict in verdicts if isinstance(verdict, Failed)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("path", [path for path in REPROS if "hang" in path.stem.lower()], ids=lambda path: path.stem)
def test_a_hang_shows_where_python_was(path: Path, run: Run) -> None:
    observation, _ = run(path, timeout=HANGS)
    assert observation.timed_out
    assert "most recent call first" in observation.output
    assert "repro.py" in observation.output


@pytest.mark.parametrize("path", [path for path in REPROS if is_memory(path)], ids=lambda path: path.stem)
def test_out_of_memory_is_no_verdict(path: Path, run: Run) -> None:
    observation, verdict = run(path)
    assert isinstance(verdict, CannotJudge), f"{verdict}\n{observation.output[-3000:]}"
