"""The list of the commits between two revisions."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.history.commit import Span
from bisect_tool.history.folding import Listed, fold, mark_picked, series
from bisect_tool.history.source import Source


@dataclass(frozen=True, slots=True)
class CommitList:
    """What `span.head` has and `span.base` has not; `listed` has every commit, oldest first, also those that cancel out.

    `series` are ghstack series, each in order. `files_missing` counts commits whose files could not be had, `why_missing`
    says the reason. `link` is the page of the comparison.
    """

    span: Span
    listed: tuple[Listed, ...]
    series: tuple[tuple[str, ...], ...]
    link: str
    files_missing: int = 0
    why_missing: str | None = None

    @property
    def standing(self) -> tuple[Listed, ...]:
        """The commits that do not cancel out."""
        return tuple(entry for entry in self.listed if entry.stands)

    @property
    def folded(self) -> tuple[Listed, ...]:
        """The commits that cancel out."""
        return tuple(entry for entry in self.listed if not entry.stands)

    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the list, in sentences."""
        notes = []
        if self.span.merge_base is None:
            notes.append("The two revisions have no common past: this is everything that the second one has.")
        elif not self.span.is_one_line:
            picked = sum(entry.is_in_base for entry in self.listed)
            notes.append(
                f"The two are not on one line: they parted at {self.span.merge_base[:12]}, and the first has "
                f"{_commits(self.span.only_base)} that the second has not. Listed is what is new in the second"
                + (f"; the first has {picked} of these as cherry-picks." if picked else ".")
            )
        if self.span.left_out:
            notes.append(f"{_commits(self.span.left_out)} more, newer ones, are not listed: the range is too long.")
        if self.files_missing:
            notes.append(f"The files of {_commits(self.files_missing)} are not known: {self.why_missing}.")
        return tuple(notes)


def list_commits(source: Source, base: str, head: str, *, with_files: bool = True) -> CommitList:
    """The list between two revisions. `with_files` asks for the files of every commit, which for GitHub is a request each.

    Raises `RevisionUnknown`, `HistoryUnavailable`; files that cannot be had are no error, but said.
    """
    span = source.commits(base, head)
    touched = source.files([commit.sha for commit in span.commits]) if with_files and span.commits else None
    listed = fold(span.commits, touched.known if touched else {})
    if span.only_base and span.merge_base is not None:
        listed = mark_picked(listed, source.commits(span.head, span.base).commits)
    link = source.compare_link(span.base, span.head)
    missing, why = (len(touched.missing), touched.why) if touched else (0, None)
    return CommitList(span, listed, series(listed), link, missing, why)


def _commits(number: int) -> str:
    return "1 commit" if number == 1 else f"{number} commits"
