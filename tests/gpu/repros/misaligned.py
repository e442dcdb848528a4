"""A Triton kernel told that a pointer is a multiple of 16, which it is not."""

import torch
import triton
import triton.language as tl


@triton.jit
def read_wide(source, target, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    tl.store(target + place, tl.load(source + tl.max_contiguous(tl.multiple_of(place, BLOCK), BLOCK)))


def main() -> None:
    values = torch.zeros(1024, device="cuda")
    result = torch.zeros(1024, device="cuda")
    read_wide[(1,)](values, result, BLOCK=512)
    # Triton compiles anew for another alignment, unless the kernel is called with what was compiled for the first.
    compiled = read_wide.warmup(values, result, BLOCK=512, grid=(1,))
    compiled[(1, 1, 1)](values[1:], result, 512)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
