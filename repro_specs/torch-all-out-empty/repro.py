"""torch.all writes into `out`, made as large as it needs to be. The backend `eager` makes the graph and compiles nothing."""

import argparse
import os
import sys
import warnings

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--fullgraph", action="store_true", help="refuse to break the graph")
    options = parser.parse_args()
    device = os.environ.get("BISECT_DEVICE", "cpu")
    warnings.simplefilter("ignore")  # eager warns that `out` is made larger

    def every(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty((0,), dtype=torch.bool).to(x.device)
        torch.all(x, dim=1, out=out)
        return out

    function = torch.compile(every, backend="eager", fullgraph=options.fullgraph) if options.compile else every
    found = function(torch.tensor([[True, False], [True, True]], device=device)).tolist()
    if found != [False, True]:
        sys.exit(f"wrong result: {found}, expected [False, True]")
    print(f"torch {torch.__version__}: {found}")


if __name__ == "__main__":
    main()
