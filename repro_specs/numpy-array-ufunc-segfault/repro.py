"""`__array_ufunc__` called by hand: with a ufunc it gives its result, with anything else a Python exception is right."""

import sys

import numpy as np


def main(case: str) -> None:
    values = np.ones(1)
    if case == "as-usual":
        assert np.negative(values) == -1
        return
    if case == "a-ufunc":
        assert values.__array_ufunc__(np.negative, "__call__", values) == -1
        return
    try:
        values.__array_ufunc__(2.3, 1)
    except (TypeError, ValueError) as error:
        print(f"numpy {np.__version__}: {type(error).__name__}, as it should be")
    else:
        sys.exit("a number was taken for a ufunc")


if __name__ == "__main__":
    main(sys.argv[1])
