"""The time of one product of 512 × 512 matrices, the median of five, after two that do not count."""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import torch


def main(dtype: str) -> None:
    torch.manual_seed(0)
    left, right = (torch.randn(512, 512).to(getattr(torch, dtype)) for _ in range(2))
    seconds = []
    for _ in range(7):
        began = time.perf_counter()
        product = left @ right
        seconds.append(time.perf_counter() - began)
    error = (product.double() - left.double() @ right.double()).abs().max().item()
    if not error <= 0.1:
        sys.exit(f"wrong product: off by {error}")
    value = statistics.median(seconds[2:]) * 1e3
    print(f"torch {torch.__version__}: {value:.2f} ms, {torch.backends.cpu.get_cpu_capability()}")
    with Path(os.environ["BISECT_CHECKS"]).open("a") as file:
        file.write(json.dumps({"check": "product_ms", "value": value}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
