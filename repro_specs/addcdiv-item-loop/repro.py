"""A hand-written Adam whose step counter is read with .item() (a graph break), run in a compiled loop."""

import argparse
import os
import sys

import torch


def pick_device() -> torch.device:
    return torch.device(os.environ.get("BISECT_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))


def update(
    weight: torch.Tensor, grad: torch.Tensor, mean: torch.Tensor, square: torch.Tensor, count: torch.Tensor
) -> None:
    count.add_(1)
    mean.mul_(0.9).add_(grad, alpha=0.1)
    square.mul_(0.999).addcmul_(grad, grad, value=0.001)
    step = count.item()
    scale = (square.sqrt() / (1 - 0.999**step) ** 0.5).add_(1e-8)
    weight.addcdiv_(mean, scale, value=-0.001 / (1 - 0.9**step))


def train(weight: torch.Tensor, grad: torch.Tensor, steps: int) -> torch.Tensor:
    weight, mean, square = weight.clone(), torch.zeros_like(weight), torch.zeros_like(weight)
    count = torch.tensor(0.0, device=weight.device)
    for _ in range(steps):
        update(weight, grad, mean, square, count)
    return weight


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["eager", "aot_eager", "inductor"], default="inductor")
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    device = pick_device()
    torch.manual_seed(0)
    weight, grad = torch.randn(128, device=device), torch.randn(128, device=device)
    expected = train(weight, grad, options.steps)
    actual = torch.compile(train, backend=options.backend)(weight, grad, options.steps)
    difference = (actual - expected).abs()
    largest = difference.max().item()
    if not largest <= 1e-5:  # one step moves a weight by about 1e-3, rounding by about 1e-7
        place = int(difference.argmax())
        sys.exit(
            f"wrong weights after {options.steps} steps: weight[{place}] is {actual[place].item():.7g}, expected "
            f"{expected[place].item():.7g}; largest difference {largest:.3e}, at most 1e-5 expected"
        )
    print(f"torch {torch.__version__} on {device}: weights after {options.steps} steps are right ({largest:.1e})")


if __name__ == "__main__":
    main()
