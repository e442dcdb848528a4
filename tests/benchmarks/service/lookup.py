"""Look-ups in a store with a million trials and 20,000 answered questions: how long each kind takes, alone and by the hundred.

`python -m tests.benchmarks.service.lookup [--trials 1000000] [--reports 20000] [--store sqlite|postgresql]`; SQLite in a
temporary folder and a PostgreSQL server of Debian's package, both removed afterwards. The failures are those that real torch
releases printed (`tests/trials/tracebacks`), each made another one by words of its own.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import insert

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.record import decision, opening, text_of
from bisect_tool.search.together import Asking, choose
from bisect_tool.service.finding import By, Found, Query
from bisect_tool.service.looking_up import look_up
from bisect_tool.store.found_rows import rows_of
from bisect_tool.store.results import Results, open_results
from bisect_tool.store.service_tables import failure_words, found_failures
from tests.benchmarks.batch.store import BUILDS, CASES, Shape, _fill, _stores
from tests.rig.answered_reports import report_of, shown_by
from tests.rig.histories import stepwise
from tests.search.searching import Search
from tests.trials.test_real_tracebacks import SAMPLES

SINGLE, BATCHES = 200, 20  # look-ups and batches of each kind that are timed
BEGUN = 100  # questions that were begun and not answered, of those of `Shape`
STEPS = 12  # decisions of each
AT_ONCE = 500
SEED = 9
_REAL = [
    sample.observation.output
    for sample in SAMPLES
    if sample.observation.chain and len(sample.verdict(by_text=True)) == 12
]


@dataclass(frozen=True, slots=True)
class Answered:
    """`reports` questions, each with one failure; every failure is that of two questions."""

    reports: int

    def text(self, number: int) -> str:
        """What the failure of question number so many prints: a real traceback whose message has words of its own."""
        failure = number // 2
        real = _REAL[failure % len(_REAL)].rstrip("\n")
        words = f"in aten.operator_{failure % 3000} while tiling loop_{failure} of {_WORDS[failure % len(_WORDS)]}"
        return real + f"\n\nTraceback (most recent call last):\n{FRAMES}RuntimeError: unexpected stride {words}\n"

    def row(self, number: int) -> dict[str, Any]:
        """The row of that question in the index."""
        plain = PLAIN[number // 2 % len(PLAIN)]
        message = shown_by(self.text(number)).signature
        failure = plain["failures"][0]
        signature = failure["signature"] | {
            "message": message.message,
            "title": message.title,
            "types": list(message.types),
        }
        signature["where"], signature["text"] = message.where, self.text(number)[-4000:]
        spec = plain["spec"] | {
            "name": f"spec-{number}",
            "digest": f"{number:063x}a",
            "issue": f"pytorch/pytorch#{number}",
        }
        report = plain | {"spec": spec, "failures": [failure | {"id": f"stride-{number}", "signature": signature}]}
        (row,) = rows_of(report, f"{number:032x}", "2026-11-30T10:00:00+00:00")
        return row


FRAMES = '  File "/x/repro.py", line 3, in <module>\n  File "/x/site-packages/torch/_inductor/lowering.py", line 9, in call\n'
_WORDS = [
    "contiguous",
    "channels_last",
    "sparse",
    "nested",
    "jagged",
    "quantized",
    "complex",
    "half",
    "bfloat",
    "float8",
    "symbolic",
    "dynamic",
]
PLAIN: list[dict[str, Any]] = [report_of(shown_by(text)).model_dump(mode="json") for text in _REAL[:5]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--reports", type=int, default=20_000)
    parser.add_argument("--store", choices=["sqlite", "postgresql"])
    parser.add_argument("--address", help="a database that stays, filled when nothing is in it")
    given = parser.parse_args()
    answered, shape = Answered(given.reports), Shape(max(BEGUN, given.trials // (BUILDS * CASES)))
    print("| store | look-up | p50 ms | p95 ms | processor ms of the tool |\n|---|---|---|---|---|")
    for name, address, _ in _stores(given.address):
        if given.store and given.store != name.lower():
            continue
        with closing(open_results(address, nullcontext)) as results:
            started = time.monotonic()
            if not results.runs(most=1):
                _fill(results, shape, given.trials)
                _answer(results, answered)
                _begin(results, shape)
            print(f"{name} is filled after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
            for line in _measured(results, answered):
                print(f"| {name} {line}", flush=True)


def _answer(results: Results, answered: Answered) -> None:
    """The rows of the index, as the ends of runs leave them, many at a time."""
    for start in range(0, answered.reports, AT_ONCE):
        rows = [
            answered.row(number) | {"id": number + 1} for number in range(start, min(start + AT_ONCE, answered.reports))
        ]
        words = [{"word": word, "found": row["id"]} for row in rows for word in row["words"]]
        with results.engine.begin() as connection:
            connection.execute(insert(found_failures), [row | {"words": " ".join(row["words"])} for row in rows])
            connection.execute(insert(failure_words), words)
    with results.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE" if results.database.is_server else "ANALYZE")


def _begin(results: Results, shape: Shape) -> None:
    """Searches that were killed after some decisions, and a trial that their records do not know of."""
    cases = tuple(f"case {number}" for number in range(CASES))
    history = stepwise([(BUILDS // 3, "pass"), (BUILDS - BUILDS // 3, frozenset({"0123456789ab"}))])
    history = replace(history, states=dict.fromkeys(cases, history.states["main"]))
    versions = tuple(shape.trial(shape.repros * CASES * build).version for build in range(BUILDS))
    lines = _record(Search(history, Question(BUILDS, cases), Policy(verify=1)), versions)
    for number in range(BEGUN):
        run = f"begun-{number}"
        results.start_run(run, spec=f"begun {number}", repro=f"{number:064x}", package="torch")
        for place, line in enumerate(lines):
            results.add_decision(run, place, line)
        results.add_trial(shape.trial(number))


def _record(search: Search, versions: Sequence[str]) -> list[str]:
    lines: list[str] = []
    before: list[Known] | None = None
    for number in range(1, STEPS + 1):
        known = search.known()
        asking = Asking(search.question, known, search.policy, tuple(versions))
        if not lines:
            lines.append(text_of(opening([asking], [versions], "1.0")))
        choice = choose([asking])
        lines.append(text_of(decision(number, before, [asking], choice)))
        before = [known]
        if choice is None:
            break
        search.serve(choice.probe)
        search.installed.add(choice.probe.build)
    return lines


Make = Callable[[], Query]


def _measured(results: Results, answered: Answered) -> Iterator[str]:
    rng = random.Random(SEED)
    kinds = _kinds(answered, rng)
    for what, (make, expected) in kinds.items():
        yield _line(results, what, lambda make=make: [make()], SINGLE, expected)  # type: ignore[misc]
    mixed = [make for make, _ in kinds.values()]
    batches: Mapping[str, Sequence[Make]] = {
        "100 of all kinds": mixed,
        **{f"100 times: {what}": [make] for what, (make, _) in kinds.items()},
    }
    for what, makes in batches.items():
        yield _line(results, what, lambda makes=makes: [makes[n % len(makes)]() for n in range(100)], BATCHES, None)  # type: ignore[misc]


def _line(results: Results, what: str, make: Callable[[], list[Query]], times: int, expected: Found | None) -> str:
    asked = [make() for _ in range(times)]
    used, seconds = time.process_time(), []
    for queries in asked:
        started = time.perf_counter()
        found = look_up(results, queries)
        seconds.append(time.perf_counter() - started)
        if expected is not None and any(one.found is not expected for one in found):
            raise AssertionError(f"{what}: {found[0]}")
    own = (time.process_time() - used) / times
    seconds.sort()
    p50, p95 = seconds[len(seconds) // 2], seconds[len(seconds) * 95 // 100]
    return f"| {what} | {p50 * 1000:.1f} | {p95 * 1000:.1f} | {own * 1000:.1f} |"


def _kinds(answered: Answered, rng: random.Random) -> dict[str, tuple[Make, Found]]:
    def number() -> int:
        return rng.randrange(answered.reports)

    def other_place(text: str) -> str:
        return text.replace("/x/", "/home/me/").replace("line ", "line 1")

    def another() -> str:
        return answered.text(number()).replace("unexpected stride", "no kernel for the layout")

    return {
        "a traceback, the same failure": (lambda: Query(other_place(answered.text(number())), By.TEXT), Found.YES),
        "a traceback, another failure with like words": (lambda: Query(another(), By.TEXT), Found.PARTLY),
        "a line of words that thousands have": (
            lambda: Query("RuntimeError: unexpected stride while tiling", By.TEXT),
            Found.PARTLY,
        ),
        "an operator": (lambda: Query(f"torch.ops.aten.operator_{number() // 2 % 3000}.default"), Found.PARTLY),
        "a name that all have": (lambda: Query("torch"), Found.YES),
        "an issue": (lambda: Query(f"https://github.com/pytorch/pytorch/issues/{number()}"), Found.YES),
        "a spec that was answered": (
            lambda: Query(f"{number():063x}a", By.SPEC, from_="2.10", channels=("release",)),
            Found.YES,
        ),
        "a spec that was begun": (lambda: Query(f"{rng.randrange(BEGUN):064x}", By.SPEC), Found.PARTLY),
        "something that nobody knows": (
            lambda: Query(f"ValueError: xyzzy_{number()} frobnicated_{number()}", By.TEXT),
            Found.NO,
        ),
    }


if __name__ == "__main__":
    main()
