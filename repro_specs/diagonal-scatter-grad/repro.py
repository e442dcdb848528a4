"""Gradient of diagonal_scatter(x, src).sum() under torch.compile: 1 off the diagonal of x, 0 on it, 1 for src."""

import argparse
import os
import sys

import torch


def pick_device() -> torch.device:
    return torch.device(os.environ.get("BISECT_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--weighted", action="store_true", help="weigh the entries, so that their gradients differ")
    options = parser.parse_args()
    device = pick_device()
    weights = torch.arange(1.0, 65.0, device=device).reshape(8, 8) if options.weighted else None

    def total(x: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
        scattered = torch.diagonal_scatter(x, src, 0)
        return (scattered if weights is None else scattered * weights).sum()

    torch.manual_seed(0)
    x = torch.randn(8, 8, device=device, requires_grad=True)
    src = torch.randn(8, device=device, requires_grad=True)
    torch.compile(total, backend=options.backend)(x, src).backward()

    full = torch.ones(8, 8, device=device) if weights is None else weights
    diagonal = torch.eye(8, device=device, dtype=torch.bool)
    for name, actual, expected in (
        ("x", x.grad, full.masked_fill(diagonal, 0)),
        ("src", src.grad, full.diagonal()),
    ):
        if actual is None:
            sys.exit(f"no gradient: {name}.grad is None after backward")
        largest = (actual - expected).abs().max().item()
        if largest <= 1e-5:
            continue
        if not actual.any():
            sys.exit(f"gradient is all zero: {name}.grad sums to 0, expected {expected.sum().item():g}")
        sys.exit(
            f"wrong gradient: {name}.grad sums to {actual.sum().item():g}, expected {expected.sum().item():g}; "
            f"largest difference {largest:.3e}"
        )
    print(f"torch {torch.__version__} on {device}: both gradients are right")


if __name__ == "__main__":
    main()
