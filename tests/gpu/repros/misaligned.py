"""A Triton kernel that is told a wrong alignment: noticed when the GPU is waited for."""

import torch
import triton
import triton.language as tl


@triton.jit
def read_wide(address, target, BLOCK: tl.constexpr):
    source = tl.multiple_of(address, 16).to(tl.pointer_type(tl.float32))
    place = tl.arange(0, BLOCK)
    tl.store(target + place, tl.load(source + place))


def launch(values: torch.Tensor, result: torch.Tensor) -> None:
    read_wide[(1,)](values.data_ptr() + 2, result, BLOCK=512)


def wait() -> None:
    torch.cuda.synchronize()


def main() -> None:
    values = torch.zeros(1024, device="cuda")
    result = torch.zeros(1024, device="cuda")
    launch(values, result)
    wait()


if __name__ == "__main__":
    main()
