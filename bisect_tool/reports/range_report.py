"""What lies between two builds as a value and as text: what `bisect range` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from bisect_tool.reports import sentences
from bisect_tool.reports.answer import order_differences
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.commit_lines import ShownCommit, show_commits
from bisect_tool.reports.commits import BuildCommit, Commits, Suspicion
from bisect_tool.reports.formats.terminal import commit_lines
from bisect_tool.reports.part import Part
from bisect_tool.reports.report import Difference

MOST_FILES = 4


class RangeEnd(Part):
    """One end as it was `asked` for, and the build (a version) or revision that this means."""

    asked: str
    build: str
    date: str | None = None


class RangeReport(Part):
    """What the newer end has and the older has not; JSON schema version 1.

    `differences` are those of the two environments, None where one of them was never made here.
    """

    schema_version: Literal[1] = 1
    package: str
    older: RangeEnd
    newer: RangeEnd
    commits: Commits
    suspicion: Suspicion | None
    differences: tuple[Difference, ...] | None
    notes: tuple[str, ...] = ()


def render(found: RangeReport) -> str:
    """The text: the commits to look at first, then all of them, then what else differs."""
    return "\n".join(_lines(found)).rstrip() + "\n"


def _lines(found: RangeReport) -> Iterator[str]:
    shown = show_commits(found.commits, found.suspicion)
    yield f"{found.package} {_end(found.older)} to {_end(found.newer)}, {found.commits.repository}"
    yield from _origin("older", found.commits.before)
    yield from _origin("newer", found.commits.after)
    if shown.link:
        yield f"compare:  {shown.link}"
    yield from commit_lines(shown, "")
    yield from (f"note:     {one_line(clean(note))}" for note in found.notes)
    yield from _every(shown.every, len(shown.first))
    yield from _differences(found)


def _end(end: RangeEnd) -> str:
    return f"{one_line(end.build, 120)}{f' ({end.date[:10]})' if end.date else ''}"


def _origin(name: str, commit: BuildCommit | None) -> Iterator[str]:
    if commit is not None:
        likely = "" if commit.certain else "likely "
        yield f"{name}:    {likely}{commit.sha[:12]}: {one_line(commit.how)}"


def _every(every: Sequence[ShownCommit], already: int) -> Iterator[str]:
    if len(every) <= already:
        return
    yield ""
    yield "all, oldest first:"
    for one in every:
        pull = f"{one.pull}  " if one.pull else ""
        remarks = f"  [{'; '.join(one.remarks)}]" if one.remarks else ""
        yield f"  {one.short}  {pull}{one_line(one.title, 160)}  ({one_line(one.by, 120)}){remarks}"
        if one.files:
            left = len(one.files) + one.more_files - MOST_FILES
            more = f" and {left} more" if left > 0 else ""
            yield f"      {', '.join(one_line(file, 160) for file in one.files[:MOST_FILES])}{more}"


def _differences(found: RangeReport) -> Iterator[str]:
    yield ""
    if found.differences is None:
        yield "environments: not both known here; `bisect run` makes and remembers them"
        return
    ordered = order_differences(found.differences, found.package)
    yield f"environments: {sentences.plural(len(ordered), 'difference')}"
    yield from (f"  {one.name} {one.before or 'absent'} -> {one.after or 'absent'}" for one in ordered)
