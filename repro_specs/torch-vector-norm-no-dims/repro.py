"""The norm over no dimension in particular is that of all elements: a scalar."""

import os
import sys

import torch

if __name__ == "__main__":
    x = torch.rand(16, 32, device=os.environ.get("BISECT_DEVICE", "cpu"))
    norm = torch.compile(lambda x: torch.linalg.vector_norm(x, dim=[]), backend=sys.argv[1])(x)
    if norm.shape != ():
        sys.exit(f"wrong shape: {tuple(norm.shape)}, expected ()")
    difference = abs(norm.item() - x.double().square().sum().sqrt().item())
    if not difference <= 1e-4:
        sys.exit(f"wrong norm: {norm.item()}, off by {difference}")
    print(f"torch {torch.__version__}: a scalar, {norm.item():.4f}")
