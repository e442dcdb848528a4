"""What is read of the GPU, and what a trial sees of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pynvml
from packaging.version import Version

from bisect_tool.environments.health import PROBE
from bisect_tool.runs.device import Device, choose_device
from bisect_tool.trials.failure import Passed
from tests.gpu.conftest import Run

TELLS = """
import json, torch
p = torch.cuda.get_device_properties(0)
print(json.dumps({"count": torch.cuda.device_count(), "name": p.name, "capability": [p.major, p.minor],
                  "architectures": torch.cuda.get_arch_list(), "sum": torch.ones(1000, device="cuda").sum().item()}))
"""
BLIND = """
import os, sys, torch
sys.exit(f"a GPU is seen: {os.environ.get('CUDA_VISIBLE_DEVICES')}" if torch.cuda.is_available() else 0)
"""


def test_nvml_and_torch_tell_the_same_of_the_gpu(gpu: Device, run: Run) -> None:
    observation, verdict = run(TELLS)
    assert verdict == Passed(), observation.output
    told = json.loads(observation.output.strip().splitlines()[-1])
    assert told["name"] == gpu.kind
    assert tuple(told["capability"]) == gpu.capability
    assert told["sum"] == 1000


def test_the_build_has_code_for_this_gpu(gpu: Device, run: Run) -> None:
    observation, _ = run(TELLS)
    told = json.loads(observation.output.strip().splitlines()[-1])
    assert gpu.capability is not None
    major, minor = gpu.capability
    assert any(name.startswith(f"sm_{major}") for name in told["architectures"]), told["architectures"]
    assert major >= 7, f"{major}.{minor} is older than any of these builds"


def test_the_driver_is_one_that_the_variants_of_cuda_13_take(gpu: Device) -> None:
    assert gpu.driver is not None
    assert Version(gpu.driver) >= Version("580")


def test_nvml_reads_memory_and_processes() -> None:
    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        assert 0 < memory.used < memory.total
        assert isinstance(pynvml.nvmlDeviceGetComputeRunningProcesses(handle), list)
    finally:
        pynvml.nvmlShutdown()


def test_a_trial_sees_no_gpu_when_none_is_given_to_it(run: Run) -> None:
    observation, verdict = run(BLIND, variables={"CUDA_VISIBLE_DEVICES": ""})
    assert verdict == Passed(), observation.output


def test_a_hidden_gpu_is_not_chosen() -> None:
    assert choose_device(("cuda", "cpu"), {"CUDA_VISIBLE_DEVICES": ""}).name == "cpu"


def test_the_health_check_computes_on_the_gpu_and_tells_what_it_found(
    gpu: Device, programs: Path, tmp_path: Path
) -> None:
    script = shutil.copy(PROBE, tmp_path / "probe.py")
    done = subprocess.run(
        [str(programs / "python"), str(script), "torch", "cuda"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    found = json.loads(done.stdout.strip().splitlines()[-1])
    facts = found["torch"]
    assert (facts["gpu"], facts["version"].split("+")[0]) == (gpu.kind, found["version"].split("+")[0])
    assert gpu.capability is not None
    assert facts["capability"] == ".".join(map(str, gpu.capability))
    assert facts["arch_list"]
    assert not found.get("unfit")
