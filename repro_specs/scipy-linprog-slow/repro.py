"""Solves five linear programs, the same on every build, and reports the time: the first argument is the number of rows."""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix


def main(rows: int) -> None:
    random = np.random.default_rng(0)
    columns = 2 * rows
    # Written out, because scipy.sparse.random may draw other numbers in another version.
    dense = random.random((rows, columns)) * (random.random((rows, columns)) < 0.05)
    bounds = dense @ random.random(columns) + 1
    costs = [-random.random(columns) for _ in range(5)]
    matrix = csc_matrix(dense)
    began = time.perf_counter()
    results = [linprog(cost, A_ub=matrix, b_ub=bounds, bounds=(0, 5), method="highs") for cost in costs]
    took = time.perf_counter() - began
    if any(result.status for result in results):
        sys.exit(f"not solved: {[result.message for result in results]}")
    print(f"{took:.2f} s; optima {[round(result.fun, 6) for result in results]}")
    with Path(os.environ["BISECT_CHECKS"]).open("a") as file:
        file.write(json.dumps({"check": "linprog_s", "value": took}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
