"""A store with a million trials: what a run asks of it, how fast it takes trials, how large it is.

`python -m tests.benchmarks.batch.store [--trials 1000000] [--address URL] [--out FILE]`; without an address SQLite in a
temporary folder and, where one is installed, a PostgreSQL server of Debian's package, as it comes (every commit is on the
disk). A database at an address must be empty. It stays; whatever was started here is removed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text

from bisect_tool.quantities import format_size
from bisect_tool.runs.judging import as_values
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress, file_address, read_address
from bisect_tool.store.records import StoredTrial, Subject, Topic, row_of
from bisect_tool.store.results import Results, open_results
from bisect_tool.trials.observation import Observation, Raised
from tests.benchmarks.printed import Printed
from tests.rig.postgres import postgres_server, programs

BUILDS, CASES = 400, 5
QUESTIONS = 200  # of each kind that are timed
SINGLE = 200  # trials that are stored one by one
DURABLE = ("listen_addresses=", "max_connections=40")
SEED = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """`repros` scripts with `CASES` cases each, on `BUILDS` builds of one of 20 settings."""

    repros: int

    def trial(self, number: int) -> StoredTrial:
        """Trial number so many: builds first, then cases, then repros, as batches that go build by build leave them."""
        repro, rest = number % self.repros, number // self.repros
        case, build = rest % CASES, rest // CASES % BUILDS
        return StoredTrial(
            subject=Subject(f"sha256:{build:064x}", f"setting {repro % 20}", "NVIDIA H200"),
            repro=f"{repro:064x}",
            case_digest=f"{case:064x}",
            case_name=f"case {case}",
            package="torch",
            version=f"2.15.0.dev2026{build:04d}+cu130",
            observation=OBSERVED,
            folder=f"trials/20260101-{number:012x}",
            command="python repro.py --backend inductor",
            duration=12.5,
        )


OBSERVED = as_values(
    Observation(
        exit_status=1,
        signal=None,
        timed_out=False,
        duration=12.5,
        output="a line that a test prints\n" * 20,
        chain=(
            Raised(
                "torch._dynamo.exc.InternalTorchDynamoError",
                "wrong",
                "",
                (("torch/_dynamo/symbolic_convert.py", "run"),),
            ),
        ),
    )
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--address")
    parser.add_argument("--out", type=Path, help="a file for the same as JSON")
    given = parser.parse_args()
    printed = Printed("batch.store", given.out)
    printed.say(f"{given.trials:,} trials, {BUILDS} builds, {CASES} cases\n")
    printed.say("| store | what | p50 ms | p95 ms | processor ms of the tool |\n|---|---|---|---|---|")
    shape = Shape(max(1, given.trials // (BUILDS * CASES)))
    for name, address, size in _stores(given.address):
        with closing(open_results(address, nullcontext)) as results:
            started = time.monotonic()
            _fill(results, shape, given.trials)
            print(f"{name} is filled after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
            for line in _measured(name, results, shape, given.trials):
                printed.say(line)
            printed.say(f"| {name} | size: {format_size(size(results))} | | | |")


def _stores(address: str | None) -> Iterator[tuple[str, StoreAddress, Callable[[Results], int]]]:
    if address is not None:
        place = read_address(address, Path())
        yield str(place), place, _size_of_file if place.path else _size_on_server
        return
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", file_address(Path(folder) / "store.sqlite", is_own=False), _size_of_file
    if programs() is None:
        print("no PostgreSQL server here: SQLite only", file=sys.stderr, flush=True)
        return
    with postgres_server(DURABLE) as server, server.database() as place:
        yield "PostgreSQL", place, _size_on_server


def _measured(name: str, results: Results, shape: Shape, trials: int) -> Iterator[str]:
    rng = random.Random(SEED)
    for what, ask in _questions(results, shape, rng).items():
        used = time.process_time()
        times = sorted(_seconds(ask) for _ in range(QUESTIONS))
        own = (time.process_time() - used) / QUESTIONS
        p50, p95 = times[len(times) // 2], times[len(times) * 95 // 100]
        yield f"| {name} | {what} | {p50 * 1000:.2f} | {p95 * 1000:.2f} | {own * 1000:.2f} |"
    started = time.monotonic()
    for number in range(SINGLE):
        results.add_trial(shape.trial(trials + number))
    rate = SINGLE / (time.monotonic() - started)
    yield f"| {name} | one trial at a time, on the disk: {rate:,.0f} a second | | | |"


def _fill(results: Results, shape: Shape, trials: int) -> None:
    """As `Shape.trial` says, but made by the database itself: a million of them take a minute that way."""
    counting = "WITH RECURSIVE of(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM of WHERE n + 1 < :trials) "
    file = (counting, "of", "printf('%0{}x', {})")
    server = ("", "generate_series(0, :trials - 1) AS of(n)", "lpad(to_hex({1}), {0}, '0')")
    before, numbers, hexadecimal = server if results.database.is_server else file
    repro, case, build = "n % :repros", "n / :repros % :cases", "n / :repros / :cases % :builds"
    columns = {
        "repro": hexadecimal.format(64, repro),
        "case_digest": hexadecimal.format(64, case),
        "identity": f"'sha256:' || {hexadecimal.format(64, build)}",
        "setting": f"'setting ' || ({repro} % 20)",
        "folder": f"'trials/20260101-' || {hexadecimal.format(12, 'n')}",
    }
    fixed = {name: value for name, value in row_of(shape.trial(0)).items() if name not in columns and value is not None}
    del fixed["observation"]
    columns["observation"] = "CAST(:observed AS json)" if results.database.is_server else ":observed"
    names = ", ".join((*columns, *fixed))
    values = ", ".join((*columns.values(), *(f"CAST(:{name} AS {_type(name)})" for name in fixed)))
    given = {
        **fixed,
        "observed": json.dumps(OBSERVED),
        "trials": trials,
        "repros": shape.repros,
        "cases": CASES,
        "builds": BUILDS,
    }
    with results.engine.begin() as connection:
        connection.execute(text(f"{before}INSERT INTO trials ({names}) SELECT {values} FROM {numbers}"), given)
    subjects = [
        Subject(f"sha256:{build:064x}", f"setting {n}", "NVIDIA H200") for build in range(BUILDS) for n in range(20)
    ]
    shared = {"package": "torch", "version": "2", "found": "2026-01-01T00:00:00+00:00"}
    broken = [_row(one) | shared | {"reason": "its wheel is damaged", "host": ""} for one in subjects[::10]]
    proven = [_row(one) | {"health": HEALTH, "found": shared["found"]} for one in subjects]
    runs = [_run(number, shape) for number in range(max(20, trials // 50))]
    with results.engine.begin() as connection:
        connection.execute(insert(tables.unusable), broken)
        connection.execute(insert(tables.healths), proven)
        connection.execute(insert(tables.runs), runs)
        if results.database.is_server:
            connection.exec_driver_sql("ANALYZE")
    if not results.database.is_server:
        with results.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _type(column: str) -> str:
    return "float" if column == "duration" else "text"


HEALTH = {"version": "2.15.0", "revision": "a" * 40, "packages": {f"package-{n}": "1.0" for n in range(60)}}


def _row(subject: Subject) -> dict[str, Any]:
    return {"identity": subject.identity, "setting": subject.setting, "device": subject.device}


def _run(number: int, shape: Shape) -> dict[str, Any]:
    started = f"2026-01-{number % 28 + 1:02d}T{number % 24:02d}:00:00+00:00"
    repro = f"{number % shape.repros:064x}"
    return {"id": f"{number:032x}", "spec": f"spec {number}", "repro": repro, "package": "torch", "started": started}


def _questions(results: Results, shape: Shape, rng: random.Random) -> dict[str, Callable[[], object]]:
    def topic() -> Topic:
        repro = rng.randrange(shape.repros)
        return Topic(f"{repro:064x}", f"setting {repro % 20}", "NVIDIA H200")

    def digest() -> str:
        return f"{rng.randrange(CASES):064x}"

    def one() -> object:
        return results.trials_of(*topic(), case_digest=digest(), identity=f"sha256:{rng.randrange(BUILDS):064x}")

    leases = results.leases
    assert leases is not None

    def lease() -> None:
        held = leases.take(f"{rng.random()}", "work")
        assert held is not None
        leases.release(held)

    return {
        "trials of a case on a build": one,
        f"trials of a case over {BUILDS} builds": lambda: results.trials_of(*topic(), case_digest=digest()),
        f"trials of a question of {CASES} cases": lambda: results.trials_of(*topic()),
        f"known-broken builds, {BUILDS // 10} of {BUILDS}": lambda: results.unusable(*topic()[1:]),
        f"what {BUILDS} environments held": lambda: results.healths(*topic()[1:]),
        "last run of a question": lambda: results.runs(most=1, repro=topic().repro),
        "20 newest runs": lambda: results.runs(most=20),
        "a lease, taken and let go": lease,
    }


def _seconds(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def _size_of_file(results: Results) -> int:
    path = results.address.path
    assert path is not None
    return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))


def _size_on_server(results: Results) -> int:
    with results.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


if __name__ == "__main__":
    main()
