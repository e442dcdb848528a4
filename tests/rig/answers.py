"""Reports about strips of builds: `✓` pass, `A` and `B` failures, `~` A now and then, `?` untestable, `·` not tried."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.reports.report import Appeared, Episode, Failure, Fixed, Kind, Report, Signature
from tests.reports import samples

NAMES = {"A": "zero-grad", "B": "lowering-error"}


def builds(count: int, first: int = 0) -> tuple[str, ...]:
    """`1.0`, `1.1` and so on."""
    return tuple(f"1.{number}" for number in range(first, first + count))


def answer(strip: str, *, first: int = 0, **more: object) -> Report:
    """The report of a question with the one case `repro`; its builds begin with 1.`first`, a day each."""
    return only(strip, *builds(len(strip), first), **more)


def only(strip: str, *names: str, **more: object) -> Report:
    """The same over these builds."""
    case = samples.case("repro", strip, names)
    shown = [letter for letter in NAMES if letter in strip or (letter == "A" and "~" in strip)]
    failures = tuple(_failure(letter, tuple(_episodes(strip, letter, names))) for letter in shown)
    return samples.report(case, failures=failures, **{"outcome": "exact" if shown else "no change", **more})


def _failure(letter: str, episodes: tuple[Episode, ...]) -> Failure:
    return Failure(
        id=samples.IDS[letter],
        name=NAMES[letter],
        case="repro",
        signature=Signature(kind="exception", title=NAMES[letter]),
        episodes=episodes,
    )


def _episodes(strip: str, letter: str, names: tuple[str, ...]) -> Iterator[Episode]:
    judged = [place for place, symbol in enumerate(strip) if symbol not in "?·"]
    has = [strip[place] == letter or (strip[place] == "~" and letter == "A") for place in judged]
    for number, place in enumerate(judged):
        if not has[number] or (number and has[number - 1]):
            continue
        last = number
        while last + 1 < len(judged) and has[last + 1]:
            last += 1
        before = judged[number - 1] if number else None
        after = judged[last + 1] if last + 1 < len(judged) else None
        yield Episode(
            appeared=Appeared(
                kind=_kind(before, place),
                last_without=None if before is None else names[before],
                first_with=names[place],
                verified=before is not None,
            ),
            fixed=Fixed(
                kind=_kind(judged[last], after),
                last_with=names[judged[last]],
                first_without=None if after is None else names[after],
                verified=after is not None,
            ),
        )


def _kind(before: int | None, after: int | None) -> Kind:
    if before is None or after is None:
        return "open"
    return "exact" if after - before == 1 else "narrowed"
