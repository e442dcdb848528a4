"""What the commits between two builds have shown, in words, and when that is no answer."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import LeftOutBecause
from bisect_tool.builds.channels.commit import LAID_OVER, CommitChannel
from bisect_tool.runs.session import Session
from bisect_tool.search.states import State, Untestable, face

_NAMED_AT_MOST = 12


def confirms(coarser: Session, finer: Session) -> bool:
    """Whether a change among the commits is the one that the two builds show: the same states before and after it.

    A change between two other states says that commits and builds differ in more than the commit.
    """
    return any(_is_shown(case, coarser, finer) for case in _changed(coarser))


def _changed(coarser: Session) -> list[str]:
    """The cases whose states differ between the two builds."""
    pair = coarser.boundaries()[0]
    cases = [case.name for case in coarser.asked.spec.tests]
    return [case for case in cases if not _same(*(coarser.state(case, side) for side in pair))]


def _is_shown(case: str, coarser: Session, finer: Session) -> bool:
    pair = coarser.boundaries()[0]
    return any(
        all(_same(coarser.state(case, pair[side]), finer.state(case, found[side])) for side in (0, 1))
        for found in finer.boundaries()
    )


def unshown(coarser: Session, finer: Session) -> tuple[str, ...]:
    """A sentence for each further change of the two builds that the commits do not show, and for further changes elsewhere."""
    (before, after), *others = coarser.boundaries()
    builds = coarser.asked.builds
    pair = f"between {builds[before].label} and {builds[after].label}"
    told = [
        f"the change of {case} {pair} is not shown by the commits that were tested: see what the builds say"
        for case in _changed(coarser)
        if not _is_shown(case, coarser, finer)
    ]
    told += [
        f"the change between {builds[one].label} and {builds[other].label} was not taken to its commit: give them as --from "
        "and --to"
        for one, other in others
    ]
    return tuple(told)


def why_not(coarser: Session, finer: Session) -> str:
    """Why the commits do not name the change, in a sentence."""
    if finer.asked.stage.inside is not None:
        return (
            f"none of the commits that the merge {finer.asked.stage.inside[:12]} brought makes this change by itself: it "
            "comes from the merge"
        )
    before, after = coarser.boundaries()[0]
    older, newer = coarser.asked.builds[before].label, coarser.asked.builds[after].label
    if finer.asked.builds[0].base is None:
        return f"the commits between {older} and {newer}, built from source, do not show this change"
    first, last = 0, len(finer.asked.builds) - 1
    if not _agrees(coarser, after, finer, last):
        return (
            f"the Python files of {newer} laid over its own binaries do not show the states of {newer}: laying files over "
            "each other says nothing here"
        )
    if _agrees(coarser, after, finer, first):
        return (
            f"the change is not in Python: the binaries of {newer} with the Python files of {older} show it too"
            + _native(finer)
        )
    return (
        f"the Python files of {older} do not show the states of {older} on the binaries of {newer}, so that no commit can be "
        "named"
    )


def remarks(session: Session) -> tuple[str, ...]:
    """What a reader must know about the commits that a search among them has named."""
    asked = session.asked
    if not isinstance(asked.channel, CommitChannel):
        return ()
    line, told = asked.channel.line, []
    for before, after in session.boundaries():
        build = asked.builds[after]
        sha = build.revision or ""
        if after - before > 1:
            continue
        told.append(f"{build.version} is: {line.stretch(sha, sha).commits[0].title}")
        touched = (
            line.touched([sha], LAID_OVER[canonicalize_name(asked.spec.package)]).get(sha)
            if build.base is not None
            else None
        )
        if touched is not None and touched.binaries:
            told.append(
                f"{build.version} touches binaries as well: they are the same on both sides here, so that its Python files "
                "alone make the change"
            )
    return tuple(told)


def _native(finer: Session) -> str:
    """The commits that were left out because they touch no Python file of the package."""
    others = [one for one in finer.asked.selection.left_out if one.because is LeftOutBecause.NO_PYTHON]
    if not others:
        return "; look at the commits that touch binaries too"
    named = "; ".join(f"{one.version} {one.detail}" for one in others[:_NAMED_AT_MOST])
    more = f"; and {len(others) - _NAMED_AT_MOST} more" if len(others) > _NAMED_AT_MOST else ""
    return f". The commits that touch no Python file: {named}{more}"


def _agrees(coarser: Session, build: int, finer: Session, commit: int) -> bool:
    cases = [case.name for case in finer.asked.spec.tests]
    return all(_same(coarser.state(case, build), finer.state(case, commit)) for case in cases)


def _same(one: State | None, other: State | None) -> bool:
    """Whether two states are judged and show the same failures."""
    if one is None or other is None or isinstance(one, Untestable) or isinstance(other, Untestable):
        return False
    return face(one) == face(other)
