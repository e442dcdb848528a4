"""More memory than any GPU has."""

import torch

if __name__ == "__main__":
    print(torch.empty(1 << 44, dtype=torch.uint8, device="cuda").numel())
