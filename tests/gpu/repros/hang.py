"""A kernel that never ends: the trial must be ended at its timeout, while the main thread waits for the GPU."""

import torch
import triton
import triton.language as tl


@triton.jit
def spin(flag):
    while tl.load(flag, volatile=True) == 0:
        pass


def wait() -> None:
    torch.cuda.synchronize()


def main() -> None:
    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    spin[(1,)](flag)
    wait()


if __name__ == "__main__":
    main()
