"""Prints how long each step of a small compiled training step takes, as JSON; runs in the Python of a build."""

import json
import os
import sys
import time

started = time.perf_counter()
import torch  # noqa: E402  its import is what is measured

imported = time.perf_counter()
device = torch.device(os.environ.get("BISECT_DEVICE", "cpu"))


def wait() -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def step(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softmax(torch.nn.functional.gelu(x @ weight) + x.cumsum(0), dim=-1).square().sum()


torch.manual_seed(0)
data, weight = torch.randn(512, 512, device=device), torch.randn(512, 512, device=device, requires_grad=True)
wait()
ready = time.perf_counter()
step(data, weight).backward()
wait()
eager = time.perf_counter()
compiled = torch.compile(step)
compiled(data, weight).backward()
wait()
first = time.perf_counter()
compiled(data, weight).backward()
wait()
second = time.perf_counter()
times = {
    "version": torch.__version__,
    "import": imported - started,
    "device": ready - imported,
    "eager": eager - ready,
    "compile": first - eager,
    "run": second - first,
}
json.dump(times, sys.stdout)
