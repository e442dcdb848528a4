"""A record in words: what was learned, what was believed, and why a build was next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bisect_tool.search.record import Line
from bisect_tool.search.wishes import Purpose

REASONS: Mapping[str, str] = {
    Purpose.END.value: "the ends of the range come first",
    Purpose.LANDMARK.value: "a build that is to be judged in any case",
    Purpose.WALK.value: "the beginning is unknown: a step back until the behaviour changes",
    Purpose.SCAN.value: "both sides agree, and another failure may have come and gone between them",
    Purpose.SPLIT.value: "its two sides differ: something changed between them",
    Purpose.PROOF.value: "a thin build says that something changed here, which only whole builds can show",
    Purpose.VERIFY.value: "both sides of a change are run again before it is reported",
}


def sentences(opening: Line, line: Line, names: Mapping[str, str]) -> Iterator[str]:
    """One line of a record, as plain lines; `names` are those of failures."""
    yield from _after(opening, line, names)
    if "free" in line:
        yield from _abreast(opening, line)
    elif line["choice"] is None:
        yield f"decision {line['n']}: nothing is left to run"
    else:
        yield from _choice(opening, line["n"], line["choice"])


def _abreast(opening: Line, line: Line) -> Iterator[str]:
    """A decision with several slots."""
    for place in line["useless"]:
        _, probes = line["under"][place]
        question, build, cases = probes[0]
        name = opening["questions"][question]["builds"][build]
        yield f"decision {line['n']}: {name} for {', '.join(cases)} is called off: it cannot tell anything new"
    for chosen in line["choices"]:
        yield from _choice(opening, line["n"], chosen)
    if not line["choices"] and line["free"]:
        left = len(line["under"]) - len(line["useless"])
        yield f"decision {line['n']}: " + (
            f"nothing more to start, {left} under way" if left else "nothing is left to run"
        )


def _choice(opening: Line, number: int, chosen: Mapping[str, Any]) -> Iterator[str]:
    builds = opening["questions"][chosen["question"]]["builds"]
    yield f"decision {number}: {builds[chosen['build']]} for {', '.join(chosen['cases'])}"
    yield f"  why: {chosen['purpose']}: {REASONS[chosen['purpose']]}"
    for case, (before, after, untried) in sorted(chosen["inside"].items()):
        yield f"  {case}: between {builds[before]} and {builds[after]}, {untried} untried"
    yield f"  {_worth(chosen)}{_others(opening, chosen['others'])}"


def _worth(chosen: Mapping[str, Any]) -> str:
    bits, trials = f"{chosen['worth']:.3g}", sum(chosen["trials"])
    told = (
        f"{bits} bit{'' if bits == '1' else 's'} in {chosen['price']:.0f} s, {trials} trial{'' if trials == 1 else 's'}"
    )
    return f"worth {told}: {_a_minute(chosen['value'])}"


def _a_minute(value: float) -> str:
    return f"{60 * value:.3g} a minute"


def _others(opening: Line, others: Sequence[tuple[int, float]]) -> str:
    names = {
        environment: build
        for question in reversed(opening["questions"])
        for environment, build in zip(question["environments"], question["builds"], strict=True)
    }
    told = ", ".join(f"{names[number]} ({_a_minute(value)})" for number, value in others)
    return f"; next best: {told}" if told else ""


def _after(opening: Line, line: Line, names: Mapping[str, str]) -> Iterator[str]:
    """What was learned since the decision before."""
    for question, learned in zip(opening["questions"], line.get("learned", ()), strict=False):
        builds = question["builds"]
        for case, build, results in learned.get("results", ()):
            yield f"  learned: {case} on {builds[build]}: {', '.join(_result(one, names) for one in results)}"
        for build, reason in learned.get("broken", {}).items():
            yield f"  learned: {builds[int(build)]} cannot be tested: {reason}"


def _result(result: str | list[str], names: Mapping[str, str]) -> str:
    if isinstance(result, list):
        return "fails with " + " and ".join(names.get(failure, failure) for failure in result)
    return "passes" if result == "p" else f"says nothing: {result[1:]}"
