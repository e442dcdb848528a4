"""Write a typical history: ``python -m tests.rig.git_history FOLDER --days 30 --per-day 10 --seed 1``."""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

from tests.rig.git_history.typical import make_typical


def main() -> None:
    """Write it and print what was planted as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.rig.git_history")
    parser.add_argument("folder", type=Path, help="a bare repository is made there")
    parser.add_argument("--days", type=int, default=21)
    parser.add_argument("--per-day", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=date.fromisoformat, default=date(2026, 3, 2), metavar="YYYY-MM-DD")
    chosen = parser.parse_args()
    made = make_typical(chosen.folder, days=chosen.days, per_day=chosen.per_day, seed=chosen.seed, first=chosen.first)
    print(json.dumps({
        "repository": str(made.folder),
        "commits": len(made.commits),
        "nightlies": [{"day": n.day.isoformat(), "nightly": n.sha, "main": n.main} for n in made.nightlies],
        "reverts": made.pairs,
        "relands": made.relands,
        "series": made.series,
        "tags": made.tags,
    }, indent=2))  # fmt: skip


main()
