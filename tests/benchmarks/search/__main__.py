"""``python -m tests.benchmarks.search [TABLE …]``: what the search costs, as tables, from seeded histories.

Tables: situations, hidden, rates, farm, seconds, weighted, deciding. All of them when none is named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from tests.benchmarks.search import deciding, farm, hidden, rates, seconds, situations, weighted

TABLES: Mapping[str, Callable[[], None]] = {
    "situations": situations.main,
    "hidden": hidden.main,
    "rates": rates.main,
    "farm": farm.main,
    "seconds": seconds.main,
    "weighted": weighted.main,
    "deciding": deciding.main,
}


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
        print()


if __name__ == "__main__":
    main()
