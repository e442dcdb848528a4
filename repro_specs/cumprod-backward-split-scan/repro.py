"""Gradient of cumprod(x).sum() or cumsum(x).sum() under torch.compile, on rows long enough for a split scan."""

import argparse
import os
import sys

import torch


def pick_device() -> torch.device:
    return torch.device(os.environ.get("BISECT_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--op", choices=["cumprod", "cumsum"], default="cumprod")
    parser.add_argument("--length", type=int, default=8193, help="Inductor splits the scan above 8192")
    options = parser.parse_args()
    device = pick_device()

    def total(values: torch.Tensor) -> torch.Tensor:
        scan = torch.cumprod if options.op == "cumprod" else torch.cumsum
        return scan(values, dim=1).sum()

    # close to 1, so that a product of thousands of them neither vanishes nor overflows
    start = 1 + 0.01 * torch.sin(torch.arange(2 * options.length, device=device)).reshape(2, options.length)
    reference = start.clone().requires_grad_(True)
    total(reference).backward()
    values = start.clone().requires_grad_(True)
    torch.compile(total, backend=options.backend)(values).backward()
    if reference.grad is None or values.grad is None:
        sys.exit("no gradient: x.grad is None after backward")
    error = (values.grad - reference.grad).abs() / reference.grad.abs().max()
    largest = error.max().item()
    if not largest <= 1e-3:
        place = divmod(int(error.argmax()), options.length)
        expected, actual = reference.grad[place].item(), values.grad[place].item()
        sys.exit(f"wrong gradient: x.grad{list(place)} is {actual:.6g}, expected {expected:.6g} (error {largest:.3e})")
    print(f"torch {torch.__version__} on {device}: {options.op} gradient at {options.length} is right ({largest:.1e})")


if __name__ == "__main__":
    main()
