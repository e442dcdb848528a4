"""Gradients of slice_scatter(x, y, dim=1).sum(dim) under torch.compile, against those of eager in the same process."""

import argparse
import os
import sys
from collections.abc import Callable

import torch


def gradients(
    function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    function(x, y).backward()
    return x.grad, y.grad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--sum", type=int, default=1, help="the dimension that is summed")
    options = parser.parse_args()
    device = os.environ.get("BISECT_DEVICE", "cpu")

    def total(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.slice_scatter(x, y, dim=1, start=2, end=7).sum(dim=options.sum).square().sum()

    torch.manual_seed(0)
    x, y = torch.randn(4, 13, 33, device=device), torch.randn(4, 5, 33, device=device)
    expected = gradients(total, x, y)
    actual = gradients(torch.compile(total, backend=options.backend), x, y)
    for name, found, right in zip("xy", actual, expected, strict=True):
        if found is None or right is None:
            sys.exit(f"no gradient of {name}")
        largest = (found - right).abs().max().item()
        print(f"torch {torch.__version__} on {device}: largest difference of the gradient of {name} {largest:.1e}")
        if not largest <= 1e-3:  # the sums of 13 numbers are exact to about 1e-6
            sys.exit(
                f"wrong gradient of {name}: off by {largest:.2f}, {(found - right).ne(0).float().mean():.0%} of it differs"
            )


if __name__ == "__main__":
    main()
