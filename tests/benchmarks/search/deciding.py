"""The time and the memory of one decision in the middle of a search."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.policy import Policy
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from bisect_tool.search.together import Asking, choose
from bisect_tool.search.wants import wants_of

FAILS = Fail(frozenset({"A"}))
Results = dict[tuple[str, int], tuple[Result, ...]]


def with_holes(size: int, cases: int) -> tuple[Question, Known]:
    """A wide hole of its own in the open gap of each case, and a thousand builds that are here."""
    results: Results = {}
    for number in range(cases):
        case = f"c{number}"
        results |= {(case, build): (NoVerdict("125"),) for build in range(size // 2, size // 2 + size // 20, 7)}
        results |= {(case, 0): (Pass(),), (case, size - 1 - number): (FAILS,)}
    question = Question(size, tuple(f"c{number}" for number in range(cases)))
    return question, Known(results, ready=frozenset(range(0, size, max(1, size // 1000))))


def under_way(size: int, cases: int, levels: int) -> tuple[Question, Known]:
    """A change anywhere for each case, narrowed by `levels` probes; a stretch of broken builds; a thousand that are here."""
    rng, results, ready = random.Random(0), Results(), set(range(0, size, max(1, size // 1000)))
    for number in range(cases):
        case, at, low, high = f"c{number}", rng.randrange(1, size), 0, size - 1
        results |= {(case, low): (Pass(),), (case, high): (FAILS,)}
        for _ in range(levels):
            middle = (low + high) // 2
            ready.add(middle)
            results[case, middle] = (FAILS,) if at <= middle else (Pass(),)
            low, high = (low, middle) if at <= middle else (middle, high)
    broken = dict.fromkeys(range(size // 2 + 7, size // 2 + 7 + size // 20, 7), "broken")
    question = Question(size, tuple(f"c{number}" for number in range(cases)))
    return question, Known(results, broken, frozenset(ready) - broken.keys())


def questions(size: int, count: int, levels: int) -> list[Asking]:
    """The same as so many questions of one case, with what each wants kept from before, as a run keeps it."""
    _, known = under_way(size, count, levels)
    names = tuple(map(str, range(size)))
    made = []
    for number in range(count):
        own = {key: seen for key, seen in known.results.items() if key[0] == f"c{number}"}
        question, alone = Question(size, (f"c{number}",)), Known(own, known.broken, known.ready)
        made.append(Asking(question, alone, Policy(), names, wants_of(question, alone, Policy())))
    return made


def milliseconds(decide: Callable[[], object]) -> float:
    """Of the processor, not of the wall: the least of seven."""
    taken = []
    for _ in range(7):
        begun = time.process_time()
        decide()
        taken.append(time.process_time() - begun)
    return 1000 * min(taken)


def megabytes(decide: Callable[[], object]) -> float:
    """The most that a decision holds at once, besides what is known."""
    tracemalloc.start()
    decide()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    """Print the table."""
    print("| one decision | milliseconds | MB |")
    print("|---|---|---|")
    for name, (question, known) in (
        ("366 builds, 5 cases, each with a hole of its own", with_holes(366, 5)),
        ("10,000 builds, 5 cases, each with a hole of its own", with_holes(10_000, 5)),
        ("10,000 builds, 100 cases, each with a hole of its own", with_holes(10_000, 100)),
        ("10,000 builds, 1,000 cases, ends judged", under_way(10_000, 1000, 0)),
        ("10,000 builds, 1,000 cases, narrowed by 4 probes each", under_way(10_000, 1000, 4)),
        ("10,000 builds, 1,000 cases, narrowed by 8 probes each", under_way(10_000, 1000, 8)),
    ):
        decide = partial(plan, question, known)
        print(f"| {name} | {milliseconds(decide):.1f} | {megabytes(decide):.1f} |")
    askings = questions(10_000, 1000, 8)
    together = partial(choose, askings)
    print(f"| 10,000 builds, 1,000 questions of one case | {milliseconds(together):.1f} | {megabytes(together):.1f} |")
