"""``python -m tests.soak.batch [--kills N] [--seconds S]``: batches that are killed at random points.

After every kill: whole files, no spec told of twice. After every batch that came to its end: the answers of one that was never
killed, as many stored trials, and at most one trial run again for each kill. Several batches are under way at once, each with
a cache of its own; their processes are forked, so that a kill costs what the batch does and not the start of a program.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.direct_batches import DirectBatches
from tests.rig.killed_batches import KilledBatches, killed_batches
from tests.rig.nursery import Nursery

IN_A_BATCH = 24  # kills of one batch at most
PART = 3  # a kill comes within this part of the time of a whole batch: it takes several until that is done


@dataclass
class Soaked:
    """What was seen so far, by several threads."""

    most: int
    deadline: float
    kills: int = 0
    batches: int = 0
    repeated: int = 0
    unharmed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def is_enough(self) -> bool:
        """Whether it may end."""
        return self.kills >= self.most or time.monotonic() >= self.deadline

    def ended(self, kills: int, repeated: int) -> None:
        """A batch came to its end after so many kills."""
        with self._lock:
            self.kills += kills
            self.batches += 1
            self.repeated += repeated
            self.unharmed += kills == 0


def main() -> None:
    """Kill until it is enough, and say what was seen."""
    parser = argparse.ArgumentParser(description="Kill batches at random points.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="when it stops at the latest")
    parser.add_argument("--at-once", type=int, default=4, help="batches that are under way at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file for what was seen, as JSON")
    chosen = parser.parse_args()
    began = time.monotonic()
    seen = Soaked(chosen.kills, began + chosen.seconds)
    with (
        tempfile.TemporaryDirectory(prefix="bisect-soak-") as name,
        killed_batches(Path(name)) as batches,
        Nursery("tests.rig.killed_batches") as nursery,
    ):
        soak(batches, nursery, seen, chosen.seed, chosen.at_once)
    took, load = time.monotonic() - began, os.getloadavg()[1]
    print(
        f"{seen.kills} kills in {seen.batches} batches: the same answers; {seen.repeated} trials run again; "
        f"{took:.0f} s at a load of {load:.0f}"
    )
    if chosen.out:
        kept = {name: value for name, value in vars(seen).items() if name not in ("deadline", "_lock")}
        chosen.out.write_text(json.dumps({**kept, "seconds": round(took), "load": load, "seed": chosen.seed}) + "\n")


def soak(batches: KilledBatches, nursery: Nursery, seen: Soaked, seed: int, at_once: int) -> None:
    """Batch after batch in each of `at_once` lanes, each killed until it comes to its end."""
    whole, began = batches.place("whole"), time.monotonic()
    assert nursery.start(*_words(whole)).wait() == 0
    usual, answers, stored = time.monotonic() - began, batches.answers(whole), batches.stored(whole)
    assert stored == batches.ran(whole) > 0

    def lane(number: int) -> None:
        rng, done = random.Random(f"{seed} {number}"), 0
        while not seen.is_enough:
            place = batches.place(f"{number}-{done}")
            kills = _to_its_end(batches, nursery, place, rng, usual, seen)
            assert batches.answers(place) == answers, f"{place.folder}: another answer"
            assert batches.stored(place) == stored, (
                f"{place.folder}: {batches.stored(place)} trials are stored, not {stored}"
            )
            again = batches.ran(place) - stored
            assert 0 <= again <= kills, f"{place.folder}: {again} trials run again for {kills} kills"
            shutil.rmtree(place.folder)
            seen.ended(kills, again)
            done += 1

    with ThreadPoolExecutor(at_once) as lanes:
        for _ in lanes.map(lane, range(at_once)):
            pass


def _to_its_end(
    batches: KilledBatches, nursery: Nursery, place: DirectBatches, rng: random.Random, usual: float, seen: Soaked
) -> int:
    """Start the batch again and again, each time killed after a while; gives the kills until it came to its end."""
    kills = 0
    while True:
        child = nursery.start(*_words(place))
        may_be_killed = kills < IN_A_BATCH and not seen.is_enough
        status = child.wait(rng.uniform(0, usual / PART) if may_be_killed else 600)
        status = child.kill() if status is None else status
        if status == 0:
            return kills
        assert status == -9, f"{place.folder}: status {status}"
        kills += 1
        batches.check(place)


def _words(place: DirectBatches) -> tuple[str, str, str]:
    return str(place.folder), place.index.url, "0"


if __name__ == "__main__":
    main()
