"""``python -m tests.soak.batch [--kills N] [--seconds S]``: batches that are killed at random points.

After every kill: whole files, no spec told of twice. After every batch that came to its end: the answers of one that was never
killed, as many stored trials, and at most one trial run again for each kill.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from pathlib import Path

from tests.rig.direct_batches import DirectBatches
from tests.rig.killed_batches import KilledBatches, killed_batches


def main() -> None:
    """Kill until it is enough, and say what was seen."""
    parser = argparse.ArgumentParser(description="Kill batches at random points.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="when it stops at the latest")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bisect-soak-") as name, killed_batches(Path(name)) as batches:
        soak(batches, random.Random(chosen.seed), chosen.kills, time.monotonic() + chosen.seconds)


def soak(batches: KilledBatches, rng: random.Random, most: int, deadline: float) -> None:
    """Batch after batch, each killed until it comes to its end."""
    whole = batches.place("whole")
    began = time.monotonic()
    _end(batches.start(whole))
    usual, answers, stored = time.monotonic() - began, batches.answers(whole), batches.stored(whole)
    kills = ended = repeated = 0
    while kills < most and time.monotonic() < deadline:
        place, own = batches.place(f"killed-{ended}"), 0
        while (
            own < 12
            and kills < most
            and time.monotonic() < deadline
            and _is_killed(batches, place, rng.uniform(0, usual))
        ):
            own, kills = own + 1, kills + 1
            batches.check(place)
        if not (place.out / "index.html").exists() or own:
            _end(batches.start(place))
        again = batches.ran(place) - batches.stored(place)
        assert batches.answers(place) == answers, f"{place.folder}: another answer"
        assert batches.stored(place) == stored, (
            f"{place.folder}: {batches.stored(place)} trials stored instead of {stored}"
        )
        assert 0 <= again <= own, f"{place.folder}: {again} trials run again for {own} kills"
        ended, repeated = ended + 1, repeated + again
    print(f"{kills} kills in {ended} batches: the same answers; {repeated} trials run again")


def _is_killed(batches: KilledBatches, place: DirectBatches, after: float) -> bool:
    """Start the batch and kill it after so many seconds; False when it was faster."""
    process = batches.start(place)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    assert process.returncode == 0
    return False


def _end(process: subprocess.Popen[str]) -> None:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out


if __name__ == "__main__":
    main()
