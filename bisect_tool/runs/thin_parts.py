"""What the report tells of thin builds: how many, how often they agreed, what was seen in no other way, and one conclusion."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.reports import report as parts
from bisect_tool.reports.sentences import listed, plural
from bisect_tool.runs.part_of_change import PYTHON
from bisect_tool.runs.session import Session
from bisect_tool.search.answer import Answer
from bisect_tool.search.hints import counting_hints
from bisect_tool.search.knowledge import judged_of
from bisect_tool.search.states import Failing, Hint, Judged, Passing, face

Pair = tuple[str, int]


def thin_part(session: Session) -> parts.ThinPart | None:
    """The thin builds of a session, None when there are none."""
    look, builds = session.thin, session.asked.builds
    if look is None or not (look.builds or look.not_valid):
        return None
    compared = _compared(session)
    return parts.ThinPart(
        builds=len(look.builds),
        trials=look.trials,
        compared=len(compared),
        agreed=sum(compared.values()),
        on=tuple(builds[number].label for number in look.bases),
        not_valid=tuple(
            parts.Hole(build=builds[number].label, reason=reason) for number, reason in sorted(look.not_valid.items())
        ),
    )


def thin_advice(session: Session, answer: Answer) -> Iterator[str]:
    """What to know of an answer that thin builds have led to; nothing without them."""
    part = thin_part(session)
    if part is None:
        return
    if part.builds:
        compared = f"of {part.compared} states that were looked at whole as well, {part.agreed} were the same"
        yield (
            f"{plural(part.builds, 'build')} looked at thin said where to look ({plural(part.trials, 'trial')} with their "
            f"Python files on the binaries of {listed(part.on)}); {compared}. No answer rests on them"
        )
    for case in session.question.tests:
        if told := _only_thin(session, answer, case):
            yield told


def word_of_hint(session: Session, case: str, number: int) -> str | None:
    """What is known of a case on a build that was only looked at thin; None when it was not."""
    hint = session.hints.get((case, number))
    if hint is None:
        return None
    names = [_name(session, failure) for failure in sorted(hint.failures)]
    return f"only looked at thin: {'fails with ' + listed(names) if names else 'passes'}"


def python_changes(session: Session, answer: Answer) -> tuple[parts.Isolation, ...]:
    """The changes that are in the Python files, because on the same binaries those of both sides show both states.

    Both sides are known whole, too. `docs/speed.md`.
    """
    found = (
        _python_change(session, answer, case, before, after)
        for before, after in answer.boundaries()
        for case in session.question.tests
    )
    return tuple(one for one in found if one is not None)


def _compared(session: Session) -> dict[Pair, bool]:
    """For each case and build that is known thin and whole, whether both showed the same."""
    states = {pair: session.state(*pair) for pair in session.hints}
    return {
        pair: face(state) == session.hints[pair].failures
        for pair, state in states.items()
        if isinstance(state, Passing | Failing)
    }


def _only_thin(session: Session, answer: Answer, case: str) -> str | None:
    """Which builds at the old end of the range a case was only looked at thin on, where the search left it at that."""
    judged = judged_of(answer.timelines[case])
    counting = counting_hints(session.question, session.known())
    older = [number for name, number in counting if name == case and judged and number < min(judged)]
    if not older:
        return None
    oldest, first = (session.asked.builds[number].label for number in (min(older), min(judged)))
    return (
        f"{case}: no build before {first} was looked at whole; {plural(len(older), 'build')} there, back to {oldest}, "
        f"{'was' if len(older) == 1 else 'were'} looked at thin. Run again with --thin off to have whole ones looked at"
    )


def _name(session: Session, failure: str) -> str:
    known = session.failures | dict(session.thin.failures if session.thin else {})
    example = known.get(failure)
    return (example.name or example.signature.title) if example else failure


def _python_change(session: Session, answer: Answer, case: str, before: int, after: int) -> parts.Isolation | None:
    judged = judged_of(answer.timelines[case])
    if before not in judged or after not in judged or face(judged[before]) == face(judged[after]):
        return None
    older, newer = session.hints.get((case, before)), session.hints.get((case, after))
    if older is None or not _is_as(older, judged[before]):
        return None
    if after != older.base and (newer is None or newer.base != older.base or not _is_as(newer, judged[after])):
        return None
    labels = {number: session.asked.builds[number].label for number in (before, after, older.base)}
    sides = [(before, "before", older), *([(after, "after", newer)] if newer is not None else [])]
    return parts.Isolation(
        case=case,
        before=labels[before],
        after=labels[after],
        part=PYTHON,
        sentence=(
            f"The change of {case} between {labels[before]} and {labels[after]} is in the Python files of "
            f"{session.asked.spec.package}: laid over the binaries of {labels[older.base]}, those of the one and those of the "
            "other make the same difference."
        ),
        tests=tuple(
            parts.CrossTest.model_validate(
                {
                    "base": labels[older.base],
                    "part": PYTHON,
                    "taken_from": labels[number],
                    "shows": shows,
                    "failures": tuple(_name(session, failure) for failure in sorted(hint.failures)),
                }
            )
            for number, shows, hint in sides
        ),
    )


def _is_as(hint: Hint, state: Judged) -> bool:
    return isinstance(state, Passing | Failing) and hint.failures == face(state)
