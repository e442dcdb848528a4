"""Trials in the sandbox on CUDA: the GPU works inside, and failures and forks are those of outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bisect_tool.runs.judging import shortened, verdict_of
from bisect_tool.trials.failure import Failed, Passed, Verdict
from bisect_tool.trials.trial import Forking, TrialOrder, run_trial
from bisect_tool.trials.warm import WarmServers
from tests.gpu.test_compiler import COMPILES
from tests.gpu.test_failures import REPROS
from tests.rig.sandboxes import needs_sandbox

pytestmark = needs_sandbox
POISONS = ("device_assert", "illegal_access", "misaligned", "ptxas_error")
CARDS = "import torch; print('cards', torch.cuda.device_count(), torch.cuda.get_device_name(0))"
CLOSED = """
import socket
import torch
assert torch.ones(8, device="cuda").sum().item() == 8
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print("no way out:", error)
"""


def judged(
    content: bytes, programs: Path, folder: Path, sandbox: str, ahead: Forking | None = None
) -> tuple[Verdict, str]:
    order = TrialOrder((("repro.py", content),), ("python", "repro.py"), {}, 120, "cuda")
    environ = {**os.environ, "BISECT_SANDBOX": sandbox}
    observation = shortened(
        run_trial(order, programs=programs, folder=folder, environ=environ, ahead=ahead).observation
    )
    return verdict_of(observation, ()), observation.output


def test_the_same_cards_are_seen_inside(programs: Path, tmp_path: Path) -> None:
    outside = judged(CARDS.encode(), programs, tmp_path / "outside", "off")
    assert outside[0] == Passed(), outside[1]
    assert judged(CARDS.encode(), programs, tmp_path / "inside", "on") == outside


def test_the_card_is_open_and_the_network_is_not(programs: Path, tmp_path: Path) -> None:
    verdict, output = judged(CLOSED.encode(), programs, tmp_path / "trial", "on")
    assert (verdict, "no way out" in output) == (Passed(), True), output


@pytest.mark.parametrize("path", [path for path in REPROS if path.stem in POISONS], ids=lambda path: path.stem)
def test_a_failure_of_cuda_is_the_same_inside(path: Path, programs: Path, tmp_path: Path) -> None:
    outside, _ = judged(path.read_bytes(), programs, tmp_path / "outside", "off")
    inside, output = judged(path.read_bytes(), programs, tmp_path / "inside", "on")
    assert isinstance(outside, Failed)
    assert isinstance(inside, Failed), output
    assert [one.id for one in inside.failures] == [one.id for one in outside.failures]


def test_what_is_compiled_passes_inside_fresh_and_forked(programs: Path, tmp_path: Path) -> None:
    refused: list[str] = []
    verdict, output = judged(COMPILES.encode(), programs, tmp_path / "fresh", "on")
    assert verdict == Passed(), output
    with WarmServers(programs) as servers:
        ahead = Forking(servers, independent=False, tell=refused.append)
        verdict, output = judged(COMPILES.encode(), programs, tmp_path / "forked", "on", ahead)
    assert (verdict, refused) == (Passed(), []), output
