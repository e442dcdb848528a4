"""How often the culprit is the first suspect, or among the first five.

``python -m tests.benchmarks.suspects`` for the written cases; ``--clones FOLDER`` (clones as `owner+name/repo`) also for the
mined ones. `docs/history.md` says what these figures can show.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from bisect_tool.history.suspects import rank
from tests.benchmarks.suspects.mined import Question, mined_questions
from tests.benchmarks.suspects.written import written_questions

SEEDS = range(5)


def place_of(question: Question) -> int | None:
    """The place of the best right suspect, from 1; None when it is not among them."""
    suspects = rank(question.listed, question.clues).suspects
    return next((at for at, one in enumerate(suspects, 1) if one.entry.sha in question.right), None)


def by_chance(question: Question, first: int) -> float:
    """The chance that a random order has a right commit among the first ones."""
    size, right = len(question.listed), len(question.right)
    missed = 1.0
    for taken in range(min(first, size)):
        missed *= max(0, size - right - taken) / (size - taken)
    return 1 - missed


def row(name: str, questions: Sequence[Question]) -> str:
    """One line of the table."""
    if not questions:
        return f"| {name} | 0 | | | |"
    places = [place_of(question) for question in questions]
    shares = [sum(place is not None and place <= first for place in places) for first in (1, 5)]
    chances = [sum(by_chance(question, first) for question in questions) / len(questions) for first in (1, 5)]
    sizes = sorted(len(question.listed) for question in questions)
    told = [
        f"{share}/{len(places)} ({share / len(places):.0%}; chance {chance:.0%})"
        for share, chance in zip(shares, chances, strict=True)
    ]
    return f"| {name} | {len(questions)} | {sizes[0]} to {sizes[-1]}, median {sizes[len(sizes) // 2]} | {told[0]} | {told[1]} |"


def details(questions: Iterable[Question]) -> None:
    """Every case with the place of its culprit and the reasons."""
    for question in questions:
        suspects = rank(question.listed, question.clues).suspects
        place = place_of(question)
        print(f"{question.name}: {place or 'not found'} of {len(question.listed)}")
        shown = [suspects[place - 1]] if place else []
        for one in [*shown, *suspects[:1]]:
            reasons = "; ".join(f"{reason.text} ({reason.points:.1f})" for reason in one.reasons[:4])
            mark = "=" if one.entry.sha in question.right else "?"
            print(f"   {mark} {one.points:.1f} {one.entry.commit.title[:70]}: {reasons}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suspects")
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--only-tuned", action="store_true", help="leave the held-out cases alone")
    chosen = parser.parse_args()
    mined = list(mined_questions(chosen.clones)) if chosen.clones else []
    tuned = [question for question in mined if not question.is_held_out]
    held = [] if chosen.only_tuned else [question for question in mined if question.is_held_out]
    written = [question for seed in SEEDS for question in written_questions(seed)]
    if chosen.details:
        details([*written_questions(), *tuned, *held])
    print("| set | cases | commits in the range | first | among the first five |\n|---|---|---|---|---|")
    print(row("torch, written by hand among made-up commits, five draws", written))
    print(row("mined, looked at", tuned))
    print(row("mined, held out", held))


if __name__ == "__main__":
    main()
