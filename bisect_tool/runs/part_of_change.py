"""From the cross tests of a change to the part that makes it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bisect_tool.reports.report import CrossTest

TRITON = "triton"
CUDA = "CUDA libraries"
OTHERS = "other packages"
PYTHON = "Python files"
BINARIES = "binaries"
PACKAGE = "the package itself"


def conclude(tests: Sequence[CrossTest], after: str, *, has_python: bool) -> str | None:
    """The part that makes the change, None when the tests do not tell.

    A part does it when taking it from the older build takes the change away, and nothing speaks against that. When no part
    does, and all of them could be judged, it is what was not exchanged: the binaries, or all of a package without any.
    """
    carrying = [part for part in _parts(tests) if _carries(_shown(tests, part, after))]
    if len(carrying) == 1:
        return carrying[0]
    if not carrying and all(_is_without(_shown(tests, part, after)) for part in _parts(tests)):
        return BINARIES if has_python else PACKAGE
    return None


def sentence(part: str | None, package: str, before: str, after: str, case: str, others: Collection[str]) -> str:
    """The conclusion for people."""
    of = f"the change of {case} between {before} and {after}"
    if part is None:
        return f"The cross tests do not tell which part makes {of}."
    if part == OTHERS:
        return f"{of[0].upper()}{of[1:]} is made by another package: {', '.join(sorted(others))}."
    where = {
        TRITON: "in triton",
        CUDA: "in a CUDA library",
        PYTHON: f"in the Python files of {package}",
        BINARIES: f"in the binaries of {package}",
        PACKAGE: f"in {package} itself",
    }[part]
    return f"{of[0].upper()}{of[1:]} is {where}."


def _parts(tests: Sequence[CrossTest]) -> list[str]:
    return list(dict.fromkeys(test.part for test in tests))


def _shown(tests: Sequence[CrossTest], part: str, after: str) -> tuple[str, str]:
    """What the newer build shows with the older part, and the older build with the newer part."""
    newer, older = "not judged", "not judged"
    for test in tests:
        if test.part == part and test.base == after:
            newer = test.shows
        elif test.part == part:
            older = test.shows
    return newer, older


def _carries(shown: tuple[str, str]) -> bool:
    """Newer Python on older binaries often does not fit, so that one direction is enough when the other says nothing."""
    return shown in {("before", "after"), ("before", "not judged"), ("not judged", "after")}


def _is_without(shown: tuple[str, str]) -> bool:
    """Whether exchanging the part changes nothing, at least on the newer build."""
    return shown in {("after", "before"), ("after", "not judged")}
