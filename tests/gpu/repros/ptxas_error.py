"""Inline assembly that ptxas refuses."""

import torch
import triton
import triton.language as tl


@triton.jit
def assemble(target, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise(
        "no_such_instruction.s32 $0, $1;", "=r,r", [place], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(target + place, value)


def main() -> None:
    target = torch.zeros(128, dtype=torch.int32, device="cuda")
    assemble[(1,)](target, BLOCK=128)
    print("compiled", int(target.sum()))


if __name__ == "__main__":
    main()
