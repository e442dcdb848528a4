"""``python -m tests.benchmarks.batch [TABLE …]``: what a batch costs, as tables.

Tables: nightlies, slots, thousand. All of them when none is named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from tests.benchmarks.batch import nightlies, slots, thousand

TABLES: Mapping[str, Callable[[], None]] = {
    "nightlies": nightlies.main,
    "slots": slots.main,
    "thousand": thousand.main,
}


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
        print(flush=True)


if __name__ == "__main__":
    main()
