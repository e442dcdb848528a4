"""torch.all writes into `out`, which it makes as large as it needs to be."""

import os
import sys
import warnings

import torch

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # eager warns that `out` is made larger
    device = os.environ.get("BISECT_DEVICE", "cpu")
    x = torch.tensor([[True, False], [True, True]], device=device)

    def every(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty((0,), dtype=torch.bool, device=device)
        torch.all(x, dim=1, out=out)
        return out

    found = torch.compile(every, backend=sys.argv[1])(x).tolist()
    if found != [False, True]:
        sys.exit(f"wrong result: {found}, expected [False, True]")
    print(f"torch {torch.__version__}: {found}")
