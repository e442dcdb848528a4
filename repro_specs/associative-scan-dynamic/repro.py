"""associative_scan (an addition) under torch.compile, with static or symbolic sizes, checked against cumsum."""

import argparse
import os
import sys

import torch

CANNOT_JUDGE = 125


def pick_device() -> torch.device:
    return torch.device(os.environ.get("BISECT_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))


def add(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return left + right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--shape", type=int, nargs="+", default=[4, 8], metavar="N")
    parser.add_argument("--static", action="store_true", help="compile for these sizes only (dynamic=False)")
    options = parser.parse_args()
    device = pick_device()
    if device.type == "cpu":
        print("the pointwise scan that this is about exists on accelerators only", file=sys.stderr)
        sys.exit(CANNOT_JUDGE)
    try:
        from torch._higher_order_ops.associative_scan import associative_scan
    except ImportError as error:
        print(f"torch {torch.__version__} has no associative_scan: {error}", file=sys.stderr)
        sys.exit(CANNOT_JUDGE)

    def scan(values: torch.Tensor) -> torch.Tensor:
        return associative_scan(add, values, dim=0)

    torch.manual_seed(0)
    values = torch.randn(*options.shape, device=device)
    actual = torch.compile(scan, backend=options.backend, dynamic=not options.static)(values)
    expected = values.cumsum(0)
    if actual.shape != expected.shape:
        sys.exit(f"wrong scan: expected shape {tuple(expected.shape)}, got {tuple(actual.shape)}")
    difference = (actual - expected).abs().max().item()
    if not difference <= 1e-4:
        sys.exit(f"wrong scan: largest difference from cumsum is {difference:.3e}, at most 1e-4 expected")
    print(f"torch {torch.__version__} on {device}: scan of shape {tuple(options.shape)} is right")


if __name__ == "__main__":
    main()
