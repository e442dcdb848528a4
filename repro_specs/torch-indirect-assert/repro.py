"""Columns of a table by position, with an empty row before them: an indexed load under a mask that is one value."""

import sys

import torch


def padded(table: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(table[:, positions], (0, 0, 1, 0))


if __name__ == "__main__":
    torch.manual_seed(0)
    table, positions = torch.randn(12, 64), torch.randint(0, 64, (40,))
    found = torch.compile(padded, backend=sys.argv[1])(table, positions)
    if not torch.equal(found, padded(table, positions)):
        sys.exit("wrong columns")
    print(f"torch {torch.__version__}: right, {torch.backends.cpu.get_cpu_capability()}")
