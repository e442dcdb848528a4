"""Reads one small file again and again: what is resident may not grow once everything has been warmed up."""

import gc
import io
import os
import sys
from pathlib import Path

import pandas as pd

TEXT = "\n".join(["x," * 60 + "y"] * 200)
ALLOWED_MB = 15  # 0 to 2 were seen without the leak, 90 with it


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read(engine: str, times: int) -> None:
    for _ in range(times):
        pd.read_csv(io.StringIO(TEXT), engine=engine)
    gc.collect()


def main(engine: str, times: int) -> None:
    read(engine, times // 3)
    before = resident_mb()
    read(engine, times)
    grown = resident_mb() - before
    print(f"pandas {pd.__version__}: grown by {grown:.1f} MB in {times} calls")
    if grown > ALLOWED_MB:
        sys.exit(f"memory leak: {grown / times * 1000:.0f} kB a call")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
