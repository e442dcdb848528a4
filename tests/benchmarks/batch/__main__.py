"""``python -m tests.benchmarks.batch [TABLE …] [--out FILE]``: what a batch costs, as tables, and as JSON in FILE.

Tables: nightlies, slots, thousand. All of them when none is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.benchmarks.batch import nightlies, slots, thousand
from tests.benchmarks.printed import Printed

TABLES: Mapping[str, Callable[[Printed], None]] = {
    "nightlies": nightlies.main,
    "slots": slots.main,
    "thousand": thousand.main,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="What a batch costs.")
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--out", type=Path, help="a file for the same as JSON")
    given = parser.parse_args()
    printed = Printed("batch", given.out)
    for name in given.tables or TABLES:
        TABLES[name](printed)
        printed.say()


if __name__ == "__main__":
    main()
