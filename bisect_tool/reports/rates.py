"""How often a failure shows that comes and goes, and where its rate changes: values for the report, and their words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from bisect_tool.reports.part import Part

StudyVerdict = Literal["found", "no reliable change", "not converged", "unfinished"]
LEAST_SHOWN = 0.005  # a smaller chance is not told; all of them are in the JSON
MOST_SHOWN = 6


class Rate(Part):
    """`shown` of `trials` trials had the failure; the true share lies between `low` and `high` with 95 % confidence."""

    shown: int
    trials: int
    low: float
    high: float


class Chance(Part):
    """The chance, 0 to 1, that the rate changed with this build."""

    build: str
    chance: float


class RateStudy(Part):
    """One search for a change of rate between the builds `first` and `last`.

    `found`: it changes after `before` and with `after` at the latest, with `confidence`. `older` and `newer` are the rates
    on both sides: of all builds there that were tried, or of the two ends where no change was found. `chances` are those of
    every place, oldest first; they are left out where nothing was known of them.
    """

    first: str
    last: str
    verdict: StudyVerdict
    before: str | None = None
    after: str | None = None
    confidence: float | None = None
    older: Rate | None = None
    newer: Rate | None = None
    trials: int
    chances: tuple[Chance, ...] = ()


def lines_of(study: RateStudy) -> Iterator[tuple[str, str]]:
    """What a reader is told of a study, as pairs of a label and a text."""
    if study.older and study.newer:
        older, newer = (study.before, study.after) if study.before else (study.first, study.last)
        where = (f"{older} and older", f"{newer} and newer") if study.verdict == "found" else (str(older), str(newer))
        yield "rate", f"{where[0]}: {described(study.older)}"
        yield "rate", f"{where[1]}: {described(study.newer)}"
    yield "change", _verdict(study)
    likely = sorted((one for one in study.chances if one.chance >= LEAST_SHOWN), key=lambda one: -one.chance)
    if likely:
        yield "came with", ", ".join(f"{one.build} {share(one.chance)}" for one in likely[:MOST_SHOWN])


def described(rate: Rate) -> str:
    """`3 of 40 trials (8 %; 2 % to 20 %)`."""
    seen = rate.shown / rate.trials if rate.trials else 0.0
    return f"{rate.shown} of {rate.trials} trials ({share(seen)}; {share(rate.low)} to {share(rate.high)})"


def share(value: float) -> str:
    """A share as a percentage, with a digit more where it is near 0 or 1."""
    if value in (0.0, 1.0) or 0.05 <= value <= 0.95:
        return f"{value * 100:.0f} %"
    return f"{min(max(value * 100, 0.1), 99.9):.1f} %"


def _verdict(study: RateStudy) -> str:
    told = f"{study.trials} trials"
    match study.verdict:
        case "found":
            return f"{share(study.confidence or 0.0)} sure, after {told}"
        case "no reliable change":
            return f"none that can be relied on, after {told}"
        case "not converged":
            return f"not settled within {told}"
        case "unfinished":
            return f"not settled yet, after {told}"
