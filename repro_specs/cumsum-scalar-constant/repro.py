"""Cumulative sum of a constant that torch.compile sees in full; a constant without dimensions broke the compiler."""

import argparse
import os
import sys

import torch


def pick_device() -> torch.device:
    return torch.device(os.environ.get("BISECT_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--length", type=int, help="length of the constant; without it the constant is a scalar")
    options = parser.parse_args()
    device = pick_device()
    shape = () if options.length is None else (options.length,)

    def running_sum() -> torch.Tensor:
        return torch.full(shape, 5.0, device=device).cumsum(0)

    actual = torch.compile(running_sum, backend=options.backend)()
    expected = [5.0 * (place + 1) for place in range(options.length)] if shape else 5.0
    difference = (actual.cpu() - torch.tensor(expected)).abs().max().item() if actual.shape == shape else None
    if difference is None or not difference <= 1e-4:
        sys.exit(f"wrong cumsum: expected {expected}, got {actual.tolist()} of shape {tuple(actual.shape)}")
    print(f"torch {torch.__version__} on {device}: cumsum of shape {shape} is right")


if __name__ == "__main__":
    main()
