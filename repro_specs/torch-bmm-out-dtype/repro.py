"""A batch of products of float16 matrices whose result is wanted in float32."""

import argparse
import os
import sys

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "inductor"], default="inductor")
    parser.add_argument("--mode")
    options = parser.parse_args()
    device = os.environ.get("BISECT_DEVICE", "cuda")
    torch.manual_seed(0)
    left, right = torch.randn(2, 64, 64, device=device).half(), torch.randn(2, 64, 64, device=device).half()

    def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.bmm(left, right, out_dtype=torch.float32)

    found = torch.compile(product, backend=options.backend, mode=options.mode)(left, right)
    error = (found - left.float() @ right.float()).abs().max().item()
    if found.dtype is not torch.float32 or not error <= 1e-2:
        sys.exit(f"wrong product: {found.dtype}, off by {error:.2e}")
    print(f"torch {torch.__version__} on {device}: right to {error:.1e}")


if __name__ == "__main__":
    main()
