"""``python -m tests.soak.service [--kills N] [--postgres] [--server]``: workers that are killed at random moments during work.

Every question must be answered rightly, with as many stored trials as when nothing is killed, by one job. And
``python -m tests.soak.service --burst N``: submissions from many threads at once, none of which may be lost.
"""

from __future__ import annotations

import argparse
import random
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from bisect_tool.service.queue import Queue
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.results import Results, open_results
from tests.integration.conftest import Place
from tests.rig.index import serve
from tests.rig.killed_workers import ASKER, BUILDS, Soak, publish, question
from tests.rig.postgres import postgres_server

WORKERS = 2
BACKLOG = 4  # questions that are open at a time


def main() -> None:
    """Kill until it is enough, and say what was seen."""
    parser = argparse.ArgumentParser(description="Kill the workers of a service at random moments.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--burst", type=int, default=0, help="instead: so many submissions at once")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--server", action="store_true", help="with a server, which is killed as well")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left running then, too
    with soak_in(random.Random(chosen.seed), postgres=chosen.postgres) as soak:
        soak.port = free_port() if chosen.server else None
        print(burst(soak, chosen.burst) if chosen.burst else killing(soak, chosen.kills))


@contextmanager
def soak_in(chance: random.Random, *, postgres: bool) -> Iterator[Soak]:
    """A place with an index and a database, removed afterwards."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bisect-soak-")))
        (root / "wheels").mkdir()
        place = Place(root, stack.enter_context(serve(root / "wheels")))
        publish(place)
        address = _address(stack, root, postgres=postgres)
        results: Results = stack.enter_context(open_results(address, nullcontext, span=1000))
        words = ("--store", address.url.render_as_string(hide_password=False))
        soak = Soak(place, results, chance, words)
        stack.callback(soak.end)
        yield soak


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _address(stack: ExitStack, root: Path, *, postgres: bool) -> StoreAddress:
    if postgres:
        return stack.enter_context(stack.enter_context(postgres_server()).database())
    return file_address(root / "shared.sqlite", is_own=False)


def killing(soak: Soak, most: int) -> str:
    """Ask on and on while workers are killed; then let them come to an end, and look at everything."""
    usual = _usual(soak)
    for _ in range(WORKERS):
        soak.start()
    if soak.port is not None:
        soak.start_server()
    began = time.monotonic()
    while soak.kills < most:
        while soak.open() < BACKLOG:
            soak.ask()
        time.sleep(soak.chance.uniform(0.5, 12.0))
        soak.kill()
    soak.wait(lambda: soak.open() == 0, 600)
    took = time.monotonic() - began
    soak.stop()
    again = soak.check(usual)
    how = ", ".join(f"{count} of a {what}" for what, count in sorted(soak.killed.items()))
    return f"{soak.kills} kills ({how}), {len(soak.asked)} questions answered in {took:.0f} s; {again} trials run again"


def _usual(soak: Soak) -> dict[int, int]:
    """How many trials an answer takes when nothing is killed, by the build in which the failure appears."""
    asked = {first: soak.ask(first) for first in range(1, BUILDS)}
    soak.start()
    soak.wait(lambda: soak.open() == 0, 600)
    soak.stop()
    found = {first: soak.questions.get(number) for first, number in asked.items()}
    return {first: soak.stored(one.repro) for first, one in found.items() if one is not None}


def burst(soak: Soak, count: int) -> str:
    """Half of the submissions are asked twice; each must be one question with one job."""
    submissions = [question(number // 2, 1 + number // 2 % (BUILDS - 1)) for number in range(count)]
    soak.chance.shuffle(submissions)
    began = time.monotonic()
    with ThreadPoolExecutor(32) as pool:
        answers = [*pool.map(lambda one: soak.questions.submit(one, ASKER), submissions)]
    took = time.monotonic() - began
    waiting = Queue(soak.database).waiting()
    assert len({answer.question.id for answer in answers}) == (count + 1) // 2
    assert sum(answer.is_new for answer in answers) == (count + 1) // 2
    assert sorted(place.job.question for place in waiting) == sorted({answer.question.id for answer in answers})
    return f"{count} submissions in {took:.1f} s, {len(waiting)} questions, none lost"


if __name__ == "__main__":
    main()
