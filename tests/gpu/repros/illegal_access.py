"""A Triton kernel that writes far behind its tensor: noticed when the GPU is waited for."""

import torch
import triton
import triton.language as tl


@triton.jit
def spoil(target, offset, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK).to(tl.int64) + offset
    tl.store(target + place, 1.0)


def launch(values: torch.Tensor) -> None:
    spoil[(1,)](values, 1 << 40, BLOCK=128)


def wait() -> None:
    torch.cuda.synchronize()


def main() -> None:
    values = torch.zeros(128, device="cuda")
    launch(values)
    wait()


if __name__ == "__main__":
    main()
