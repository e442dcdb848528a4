"""Forked trials beside fresh ones on CUDA: the same verdict, whatever happens to the GPU."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.runs.judging import shortened, verdict_of
from bisect_tool.trials.failure import Failed, Passed, Verdict
from bisect_tool.trials.trial import TrialOrder
from tests.gpu.test_compiler import COMPILES
from tests.gpu.test_failures import REPROS, expected_of, is_memory

FAILING = [path for path in REPROS if expected_of(path) and not is_memory(path) and "hang" not in path.stem]


@pytest.fixture(scope="module")
def servers(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    warm = pytest.importorskip("bisect_tool.trials.warm")
    with warm.WarmServers(programs, tmp_path_factory.mktemp("warm")) as opened:
        yield opened


def both(content: bytes, programs: Path, folder: Path, servers: Any) -> tuple[Verdict, Verdict, list[str]]:
    """The verdicts of a fresh trial and of a forked one, and why the second one was not forked."""
    trial: Any = importlib.import_module("bisect_tool.trials.trial")
    refused: list[str] = []
    ahead = trial.Ahead(servers, independent=False, tell=refused.append)
    order = TrialOrder((("repro.py", content),), ("python", "repro.py"), {}, 120, "cuda")
    verdicts = []
    for name, way in (("fresh", None), ("forked", ahead)):
        ran = trial.run_trial(order, programs=programs, folder=folder / name, environ=os.environ, ahead=way)
        verdicts.append(verdict_of(shortened(ran.observation), ()))
    return verdicts[0], verdicts[1], refused


def test_what_passes_passes_in_a_fork(programs: Path, tmp_path: Path, servers: Any) -> None:
    assert both(COMPILES.encode(), programs, tmp_path, servers) == (Passed(), Passed(), [])


@pytest.mark.parametrize("path", FAILING, ids=lambda path: path.stem)
def test_what_fails_fails_alike_in_a_fork(path: Path, programs: Path, tmp_path: Path, servers: Any) -> None:
    fresh, forked, refused = both(path.read_bytes(), programs, tmp_path, servers)
    assert isinstance(fresh, Failed)
    assert isinstance(forked, Failed)
    assert [one.id for one in forked.failures] == [one.id for one in fresh.failures]
    assert refused == []
