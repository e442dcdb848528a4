"""The record of a search: every decision with what was known when it was made, as lines of JSON that can be replayed.

The first line holds the questions. Each further one holds what was learned since the one before, the gaps in which the
chosen build lies, and the choice; the last one has no choice. Nothing else is needed to make the same decisions again, so a
record is proof of why the search went as it did: `replayed` makes them again, and the lines must be the same to the byte.
With several slots a line also holds what was under way in them, how many were free, what was called off, and all choices (see
`abreast`). Builds are numbers; a result is "p" for a pass, a list of failures, or "?" with the reason why there is no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from enum import Enum
from typing import Any

from bisect_tool.search.abreast import Decision, Under, decide
from bisect_tool.search.appraisal import Probe
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, Hint, NoVerdict, Pass, Result
from bisect_tool.search.together import Asking, Choice, choose
from bisect_tool.search.wishes import Purpose, views_of

FORMAT = 3  # also goes up when the same knowledge leads to another decision
READABLE = (2, FORMAT)  # of 2 only decisions with weights, and those on builds that say nothing any more, may differ
Line = dict[str, Any]


def text_of(line: Mapping[str, Any]) -> str:
    """A line as it is stored and compared."""
    return json.dumps(line, sort_keys=True, separators=(",", ":"))


def opening(askings: Sequence[Asking], builds: Sequence[Sequence[str]], version: str) -> Line:
    """The first line: the questions, with what people call their `builds`, and the `version` of the tool."""
    numbers: dict[str, int] = {}
    return {
        "format": FORMAT,
        "version": version,
        "questions": [
            {
                **asdict(asking.question),
                "policy": asdict(asking.policy),
                "environments": [numbers.setdefault(name, len(numbers)) for name in asking.environments],
                "builds": list(names),
            }
            for asking, names in zip(askings, builds, strict=True)
        ],
    }


Weights = tuple[float, ...] | None


def decision(
    number: int,
    before: Sequence[Known] | None,
    askings: Sequence[Asking],
    choice: Choice | None,
    weighed: Mapping[int, Weights] | None = None,
) -> Line:
    """The line of decision `number`: what was learned since `before`, and what was chosen upon it.

    `weighed` are the weights of questions, by their place, that came in the meantime.
    """
    line: Line = {"n": number, "choice": None if choice is None else _chosen(choice, askings)}
    return line | _news(before, askings, weighed)


def decision_abreast(
    number: int,
    before: Sequence[Known] | None,
    askings: Sequence[Asking],
    situation: tuple[Sequence[Under], int],
    made: Decision,
    weighed: Mapping[int, Weights] | None = None,
) -> Line:
    """The same with several slots: `situation` is what was under way, and how many slots were free; `made` the decision."""
    under, free = situation
    numbers = _numbers_of(askings)
    line: Line = {
        "n": number,
        "under": [
            [numbers[one.environment], [[place, probe.build, list(probe.cases)] for place, probe in one.probes]]
            for one in under
        ],
        "free": free,
        "useless": list(made.useless),
        "choices": [
            {**_chosen(start.choice, askings), "with": [place for place, _ in start.probes[1:]]}
            for start in made.starts
        ],
    }
    return line | _news(before, askings, weighed)


def _news(before: Sequence[Known] | None, askings: Sequence[Asking], weighed: Mapping[int, Weights] | None) -> Line:
    """What was learned since the decision before."""
    olds = before or [Known()] * len(askings)
    learned = [_learned(old, asking.known) for old, asking in zip(olds, askings, strict=True)]
    line: Line = {}
    if any(learned):
        line["learned"] = learned
    if weighed:
        line["weights"] = {
            str(place): weights if weights is None else list(weights) for place, weights in weighed.items()
        }
    return line


def replayed(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each decision as it was stored, and as it is made again from the record.

    Raises `ValueError` for something that is no record of this format.
    """
    askings = _askings(json.loads(lines[0]))
    before: list[Known] | None = None
    for stored in lines[1:]:
        line = json.loads(stored)
        if "learned" in line:
            news = zip(askings, line["learned"], strict=True)
            askings = [replace(asking, known=_with(asking.known, learned)) for asking, learned in news]
        weighed = {int(place): None if row is None else tuple(row) for place, row in line.get("weights", {}).items()}
        askings = [
            replace(asking, question=replace(asking.question, weights=weighed.get(place, asking.question.weights)))
            for place, asking in enumerate(askings)
        ]
        yield stored, text_of(_again(line, before, askings, weighed))
        before = [asking.known for asking in askings]


def standing(lines: Sequence[str]) -> list[tuple[Asking, tuple[str, ...]]]:
    """The questions of a record with all that it says was learned, and what people call their builds.

    What the last trials of a run that was killed said is not in it. Raises `ValueError`, `KeyError`, `TypeError`, `IndexError`
    for something that is no record of this format.
    """
    opened = json.loads(lines[0])
    askings = _askings(opened)
    for stored in lines[1:]:
        line = json.loads(stored)
        if "learned" in line:
            news = zip(askings, line["learned"], strict=True)
            askings = [replace(asking, known=_with(asking.known, learned)) for asking, learned in news]
    return [(asking, tuple(entry["builds"])) for asking, entry in zip(askings, opened["questions"], strict=True)]


def _again(
    line: Line, before: Sequence[Known] | None, askings: Sequence[Asking], weighed: Mapping[int, Weights]
) -> Line:
    if "free" not in line:
        return decision(line["n"], before, askings, choose(askings), weighed)
    names = {number: name for name, number in _numbers_of(askings).items()}
    under = [Under(names[number], tuple(_under_way(probe) for probe in probes)) for number, probes in line["under"]]
    made = decide(askings, under, line["free"])
    return decision_abreast(line["n"], before, askings, (under, line["free"]), made, weighed)


def _under_way(entry: Sequence[Any]) -> tuple[int, Probe]:
    """A probe in a slot: only where it runs is of any account."""
    asking, build, cases = entry
    return asking, Probe(build, tuple(cases), Purpose.SPLIT, 0.0)


def _askings(line: Mapping[str, Any]) -> list[Asking]:
    if line.get("format") not in READABLE:
        raise ValueError(
            f"a record of format {line.get('format')}, this version reads {' and '.join(map(str, READABLE))}"
        )
    return [_asking(entry) for entry in line["questions"]]


def _asking(entry: Mapping[str, Any]) -> Asking:
    weights = entry["weights"]
    question = Question(
        size=entry["size"],
        tests=tuple(entry["tests"]),
        controls=tuple(entry["controls"]),
        open_start=entry["open_start"],
        landmarks=tuple(entry["landmarks"]),
        weights=None if weights is None else tuple(weights),
        compared=tuple(entry["compared"]),
    )
    return Asking(question, Known(), _policy(entry["policy"]), tuple(map(str, entry["environments"])))


def _policy(entry: Mapping[str, Any]) -> Policy:
    """The policy, with its enumerations: they are compared by identity."""
    usual = Policy()
    if strange := entry.keys() - asdict(usual).keys():
        raise ValueError(f"a policy with {', '.join(sorted(strange))}, which this version does not know")
    kinds = {name: type(getattr(usual, name)) for name in entry}
    return Policy(
        **{name: kinds[name](value) if issubclass(kinds[name], Enum) else value for name, value in entry.items()}
    )


def _chosen(choice: Choice, askings: Sequence[Asking]) -> Line:
    probe, numbers = choice.probe, _numbers_of(askings)
    return {
        "question": choice.asking,
        "build": probe.build,
        "cases": list(probe.cases),
        "trials": list(probe.trials),
        "purpose": probe.purpose.value,
        "worth": _rounded(probe.worth),
        "price": _rounded(probe.price),
        "value": _rounded(choice.value),
        "others": [[numbers[name], _rounded(value)] for name, value in choice.others],
        "inside": _inside(askings[choice.asking], probe.build, probe.cases),
    }


def _numbers_of(askings: Sequence[Asking]) -> dict[str, int]:
    """The environments of all questions as numbers, as in the first line."""
    rows = dict.fromkeys(asking.environments for asking in askings)
    return {name: number for number, name in enumerate(dict.fromkeys(name for row in rows for name in row))}


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


def _inside(asking: Asking, build: int, cases: Sequence[str]) -> dict[str, list[int]]:
    """The gaps of the cases in which the build lies: [before, after, untried]."""
    return {
        view.case: [gap.before, gap.after, gap.untried]
        for view in views_of(asking.question, asking.known)
        if view.case in cases
        for gap in view.gaps
        if gap.before < build < gap.after
    }


def _learned(old: Known, new: Known) -> Line:
    found: Line = {}
    if old is new:
        return found
    if forgotten := _forgotten(old, new):
        found["forgotten"] = forgotten
        old = _without(old, forgotten)
    results = [
        [case, build, [_as_value(result) for result in now[len(old.results.get((case, build), ())) :]]]
        for (case, build), now in sorted(new.results.items())
        if len(now) > len(old.results.get((case, build), ()))
    ]
    broken = {str(build): reason for build, reason in sorted(new.broken.items()) if old.broken.get(build) != reason}
    if results:
        found["results"] = results
    if broken:
        found["broken"] = broken
    if new.ready != old.ready:
        found["ready"] = [sorted(new.ready - old.ready), sorted(old.ready - new.ready)]
    if prices := _new_prices(old.prices, new.prices):
        found["prices"] = prices
    if new.waits != old.waits:
        found["waits"] = new.waits
    if new.hints != old.hints:
        found["hints"] = [
            [case, build, sorted(hint.failures), hint.base] for (case, build), hint in sorted(new.hints.items())
        ]
    return found


def _forgotten(old: Known, new: Known) -> list[int]:
    """The builds of which something is no longer known: their files were replaced."""
    changed = {key[1] for key, was in old.results.items() if new.results.get(key, ())[: len(was)] != was}
    return sorted(changed | (old.broken.keys() - new.broken.keys()))


def _without(known: Known, builds: Sequence[int]) -> Known:
    gone = set(builds)
    return replace(
        known,
        results={key: results for key, results in known.results.items() if key[1] not in gone},
        broken={build: reason for build, reason in known.broken.items() if build not in gone},
    )


def _new_prices(old: Prices, new: Prices) -> Line:
    now: Line = {
        "unpack": new.unpack,
        "speed": new.speed,
        "sizes": list(new.sizes),
        "fetched": sorted(new.fetched),
        "trials": dict(sorted(new.trials.items())),
    }
    was = {**asdict(old), "sizes": list(old.sizes), "fetched": sorted(old.fetched)}
    return {name: value for name, value in now.items() if value != was[name]}


def _with(known: Known, learned: Mapping[str, Any]) -> Known:
    known = _without(known, learned.get("forgotten", ()))
    results = dict(known.results)
    for case, build, more in learned.get("results", ()):
        results[case, build] = (*results.get((case, build), ()), *map(_result_of, more))
    come, gone = learned.get("ready", ((), ()))
    return Known(
        results,
        {**known.broken, **{int(build): reason for build, reason in learned.get("broken", {}).items()}},
        (known.ready | set(come)) - set(gone),
        _prices_with(known.prices, learned.get("prices", {})),
        _hints_of(learned["hints"]) if "hints" in learned else known.hints,
        learned.get("waits", known.waits),
    )


def _hints_of(rows: Sequence[tuple[str, int, list[str], int]]) -> dict[tuple[str, int], Hint]:
    return {(case, build): Hint(frozenset(failures), base) for case, build, failures, base in rows}


def _prices_with(prices: Prices, news: Mapping[str, Any]) -> Prices:
    shapes: Mapping[str, Any] = {"sizes": tuple, "fetched": frozenset}
    return replace(prices, **{name: shapes.get(name, lambda same: same)(value) for name, value in news.items()})


def _as_value(result: Result) -> str | list[str]:
    match result:
        case Pass():
            return "p"
        case Fail(failures):
            return sorted(failures)
        case NoVerdict(reason):
            return f"?{reason}"


def _result_of(value: str | list[str]) -> Result:
    if isinstance(value, list):
        return Fail(frozenset(value))
    return Pass() if value == "p" else NoVerdict(value[1:])
