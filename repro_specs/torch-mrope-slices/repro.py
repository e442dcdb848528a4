"""Every third element from the second row and every third from the last, as in multimodal rotary embeddings."""

import argparse
import os
import sys

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--slices", type=int, choices=[1, 2], default=2)
    options = parser.parse_args()
    device = os.environ.get("BISECT_DEVICE", "cuda")

    def mixed(x: torch.Tensor, first: int, second: int) -> torch.Tensor:
        out = x[0].clone()
        out[..., 1 : first * 3 : 3] = x[1, ..., 1 : first * 3 : 3]
        if options.slices == 2:
            out[..., 2 : second * 3 : 3] = x[2, ..., 2 : second * 3 : 3]
        return out

    torch.manual_seed(0)
    x = torch.randn(3, 4096, 128, device=device, dtype=torch.bfloat16)
    found, expected = torch.compile(mixed, backend=options.backend)(x, 20, 20), mixed(x, 20, 20)
    differs = (found != expected).float().mean().item()
    if differs:
        sys.exit(f"wrong rows: {differs:.1%} of the elements differ")
    print(f"torch {torch.__version__} on {device}: all rows are right")


if __name__ == "__main__":
    main()
