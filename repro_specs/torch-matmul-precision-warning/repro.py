"""Sets the precision of matrix products, once, because the warning is given once in a process (TORCH_WARN_ONCE)."""

import sys
import warnings

import torch

if __name__ == "__main__":
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        if sys.argv[1] == "default":
            torch.ones(2, 2) @ torch.ones(2, 2)
        else:
            torch.set_float32_matmul_precision(sys.argv[1])
    for one in given:
        print(f"torch {torch.__version__}: {one.category.__name__}: {one.message}")
    if given:
        sys.exit(f"warned: {given[0].category.__name__}: {str(given[0].message)[:80]}")
    print(f"torch {torch.__version__}: no warning, precision is {torch.get_float32_matmul_precision()}")
