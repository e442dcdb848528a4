"""An index that is out of bounds on the GPU: noticed when the result is read, two functions later."""

import torch


def pick(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return values[index]


def read(result: torch.Tensor) -> float:
    return float(result.sum().item())


def main() -> None:
    values = torch.arange(10.0, device="cuda")
    index = torch.tensor([1, 2, 99], device="cuda")
    print("sum", read(pick(values, index)))


if __name__ == "__main__":
    main()
