"""A module called again and again inside of a ModuleTracker: what is resident may not grow."""

import contextlib
import gc
import os
import sys
from pathlib import Path

import torch
from torch.utils.module_tracker import ModuleTracker

ALLOWED_MB = 60  # 0 to 1 were seen without the leak, 220 with it: 200 times 1 MB


class Square(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def call(times: int, around: contextlib.AbstractContextManager[object]) -> None:
    module = Square()
    for _ in range(times):
        x = torch.randn(256, 1024, requires_grad=True)
        with around:
            module(x)
    gc.collect()


if __name__ == "__main__":
    around = ModuleTracker() if sys.argv[1] == "tracked" else contextlib.nullcontext()
    call(50, around)
    before = resident_mb()
    call(200, around)
    grown = resident_mb() - before
    print(f"torch {torch.__version__}: grown by {grown:.0f} MB in 200 calls")
    if grown > ALLOWED_MB:
        sys.exit(f"memory leak: {grown / 200:.1f} MB a call")
