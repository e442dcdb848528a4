"""Gradients of Liger's cross entropy kernels against those of float64: where the loss is small, and where tokens have weights.

Runs on CUDA, or without a GPU in the interpreter of Triton (TRITON_INTERPRET=1). Exit status 0: right, 1: wrong.
"""

import argparse
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# bfloat16 has 8 bits: rounding once makes an error of up to 0.4 %.
TOLERANCE = 0.02


def first(result: torch.Tensor | tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The loss: newer versions return more."""
    return result[0] if isinstance(result, tuple) else result


def true_class(confidence: float) -> None:
    """The gradient of the logit of the right class in bfloat16, when the model is `confidence` sure of it."""
    torch.manual_seed(0)
    tokens, classes = 8, 4096
    target = torch.randint(0, classes, (tokens,))
    logits = torch.zeros(tokens, classes, dtype=torch.float64)
    high = torch.tensor(confidence / (1 - confidence) * (classes - 1), dtype=torch.float64).log()
    logits[torch.arange(tokens), target] = high
    logits = logits.to(torch.bfloat16)

    exact = logits.double().requires_grad_()
    torch.nn.functional.cross_entropy(exact, target).backward()
    given = logits.to(DEVICE).requires_grad_()
    # A copy: the kernel writes the gradient over its input.
    first(LigerCrossEntropyFunction.apply(given * 1, target.to(DEVICE), None)).backward()

    rows = torch.arange(tokens)
    expected, found = exact.grad[rows, target], given.grad.double().cpu()[rows, target]
    report("true-class gradient", ((found - expected) / expected).abs().max().item())


def per_token() -> None:
    """The gradient of the weights of the last layer, when each token's loss has a weight of its own."""
    torch.manual_seed(0)
    tokens, hidden, classes = 16, 32, 128
    states, weight = torch.randn(tokens, hidden), torch.randn(classes, hidden) / 8
    target, factors = torch.randint(0, classes, (tokens,)), torch.rand(tokens)

    exact = weight.double().requires_grad_()
    loss = torch.nn.functional.cross_entropy(states.double() @ exact.t(), target, reduction="none")
    (loss * factors.double()).sum().backward()
    given = weight.to(DEVICE).requires_grad_()
    inputs = states.to(DEVICE).requires_grad_()
    found = LigerFusedLinearCrossEntropyFunction.apply(
        inputs, given, target.to(DEVICE), None, None, -100, 0.0, 0.0, "none"
    )
    (first(found) * factors.to(DEVICE)).sum().backward()
    error = (given.grad.double().cpu() - exact.grad).norm() / exact.grad.norm()
    report("per-token gradient", error.item())


def no_grad() -> None:
    """The loss of a layer with a bias, with gradients turned off."""
    torch.manual_seed(0)
    states, weight, bias = torch.randn(16, 32), torch.randn(128, 32) / 8, torch.randn(128)
    target = torch.randint(0, 128, (16,))
    exact = torch.nn.functional.cross_entropy(states.double() @ weight.double().t() + bias.double(), target)
    with torch.no_grad():
        given = [one.to(DEVICE) for one in (states, weight, target, bias)]
        found = first(LigerFusedLinearCrossEntropyFunction.apply(*given))
    report("loss", abs(found.item() - exact.item()) / exact.item())


def report(what: str, error: float) -> None:
    """Print the relative error; exit status 1 when it is too large."""
    print(f"relative error of the {what}: {error:.4%}")
    if not error <= TOLERANCE:
        print(f"wrong {what}")
        sys.exit(1)


CASES = {
    "unsure": lambda: true_class(0.01),
    "sure": lambda: true_class(0.999),
    "per-token": per_token,
    "no-grad-bias": no_grad,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    CASES[parser.parse_args().case]()
