"""``python -m tests.soak.service [--kills N] [--postgres]``: servers and workers that are killed at random during work.

Every question must be answered rightly, by one job, with as many stored trials as when nobody is killed; on its issue there
must be one comment with the answer, and each webhook must have come under one id. `docs/service-queue.md` says more.
``--burst N``: instead, submissions from many threads at once, none of which may be lost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.soak.bursts import burst
from tests.soak.stage import Soak, soak_in

SERVERS, WORKERS = 2, 2
BACKLOG = 7  # jobs that are open at a time
QUIET = 900.0  # seconds until everything is answered and told: what is sent when a server dies waits for 180 alone
PAUSE = 3.0  # seconds between two kills at most, beside the time that the moment of each takes to come


def main() -> None:
    """Kill until it is enough, and say what was seen."""
    parser = argparse.ArgumentParser(description="Kill servers and workers of the service at random moments.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=900.0, help="when it stops to kill, at the latest")
    parser.add_argument("--burst", type=int, default=0, help="instead: so many submissions at once")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file for the summary, as JSON")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left running then, too
    with soak_in(random.Random(chosen.seed), chosen.seconds + QUIET, postgres=chosen.postgres) as soak:
        if chosen.burst:
            print(burst(soak, chosen.burst))
            return
        loads = os.getloadavg()
        found = killing(soak, chosen.kills, time.monotonic() + chosen.seconds)
        found |= {"store": "postgresql" if chosen.postgres else "sqlite", "seed": chosen.seed}
        found |= {"load before": round(loads[1], 1), "load after": round(os.getloadavg()[1], 1)}
    text = json.dumps(found, indent=1)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text)


def killing(soak: Soak, most: int, until: float) -> dict[str, object]:
    """Ask on and on while processes are killed; then let them come to an end, and look at everything.

    There are `most` kills, or as many as come up to `until` by the monotonic clock.
    """
    began = time.monotonic()
    usual = soak.usual()
    for _ in range(SERVERS):
        soak.add_server()
    for _ in range(WORKERS):
        soak.crowd.add_worker()
    started, show = time.monotonic(), _shown(soak, most)
    for moment in soak.moments():
        if soak.crowd.kills >= most or time.monotonic() > until:
            break
        if soak.crowd.kills >= most / 2 or time.monotonic() > (started + until) / 2:
            soak.second_half()
        soak.fill(BACKLOG)
        soak.break_github(0.1)
        show(moment)
        soak.pause(soak.chance.uniform(0.0, PAUSE))
        soak.killer.kill(moment)
        soak.crowd.revive()
    killed = time.monotonic() - started
    soak.others.github.faults.clear()
    soak.wait(soak.is_quiet, lambda: show("waiting"))
    took = time.monotonic() - started
    soak.crowd.stop()
    return {
        **soak.summary(),
        "trials run again": soak.check(usual),
        "seconds": {"without kills": round(started - began), "kills": round(killed), "until quiet": round(took)},
    }


def _shown(soak: Soak, most: int) -> Callable[[str], None]:
    began = time.monotonic()

    def show(what: str) -> None:
        line = f"{soak.crowd.kills} of {most} kills, {soak.standing()}, {time.monotonic() - began:.0f} s: {what}"
        print(f"\r{line:<110}", end="", file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    main()
