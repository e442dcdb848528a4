"""The old name of Simpson's rule. A warning counts as a failure, but only one that comes from the call itself."""

import sys
import warnings

import scipy.integrate


def main(name: str) -> None:
    if name == "simpson":
        assert scipy.integrate.simpson([1, 2, 3], dx=1) == 4
        return
    from scipy.integrate import simps

    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        assert simps([1, 2, 3], dx=1) == 4


if __name__ == "__main__":
    main(sys.argv[1])
