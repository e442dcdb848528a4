"""Everything about two builds that can be said without running them: revisions, commits, suspects, links.

Whatever cannot be had is said in `missing` and is no error: half an answer is worth having.
"""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.builds.build import Build
from bisect_tool.builds.versions import is_dated_pre_release
from bisect_tool.errors import BisectError, HistoryUnavailable, RevisionUnknown
from bisect_tool.history.clues import Clues
from bisect_tool.history.listing import CommitList, list_commits
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import DatedBuilds, Project
from bisect_tool.history.revisions import Revision, revision_of, tags_of
from bisect_tool.history.source import Source
from bisect_tool.history.suspects import Ranking, rank

End = Revision | HistoryUnavailable | RevisionUnknown


@dataclass(frozen=True, slots=True)
class Between:
    """What lies between an older and a newer build.

    `before` and `after` are their revisions, None where nothing leads to one. `commits` is None when there is no list. `link`
    shows the range on the web, also when nothing else could be had. `missing` are sentences: what could not be had, and why.
    `unavailable` says why the history could not be read at all, so that asking about other builds will not help either.
    """

    before: Revision | None
    after: Revision | None
    commits: CommitList | None
    ranking: Ranking
    link: str | None
    missing: tuple[str, ...] = ()
    unavailable: str | None = None

    @property
    def is_same_commit(self) -> bool:
        """Whether both builds hold the same commit for certain: then the change is not in this repository."""
        ends = (self.before, self.after)
        known = [end.sha for end in ends if end is not None and end.is_certain]
        return len(known) == 2 and known[0] == known[1]

    def notes(self) -> tuple[str, ...]:
        """What a reader must know about this part of the report, in sentences."""
        notes = []
        if self.is_same_commit:
            notes.append("Both builds hold the same commit: nothing changed in this repository.")
        for name, end in (("older", self.before), ("newer", self.after)):
            if end is not None and not end.is_certain:
                notes.append(
                    f"The commit of the {name} build is not certain ({end.how}): it lies in "
                    f"{end.earliest[:12]}..{end.latest[:12]}, and the list covers all of that."
                )
        return (*notes, *(self.commits.notes() if self.commits else ()), *self.missing)


def look_between(
    source: Source,
    before: Build,
    after: Build,
    clues: Clues,
    *,
    nightlies: NightlyMap | None = None,
    with_files: bool = True,
) -> Between:
    """What lies between two builds. Raises nothing for a history that cannot be read.

    Raises `CacheNotWritable`, `DiskFull` for the cache of answers.
    """
    missing: list[str] = []
    first = _revision(before, source, nightlies, missing)
    last = _revision(after, source, nightlies, missing)
    if not isinstance(first, Revision) or not isinstance(last, Revision):
        unavailable = _why_unavailable(first, last)
        link = _link(source, before, after, first, last)
        older, newer = (end if isinstance(end, Revision) else None for end in (first, last))
        return Between(older, newer, None, Ranking(()), link, tuple(missing), unavailable)
    link = source.compare_link(first.earliest, last.latest)
    try:
        found = list_commits(source, first.earliest, last.latest, with_files=with_files)
    except (HistoryUnavailable, RevisionUnknown) as error:
        said = (*missing, _said("No list of commits", error))
        return Between(first, last, None, Ranking(()), link, said, _why_unavailable(error))
    return Between(first, last, found, rank(found.listed, clues), link, tuple(missing))


def _revision(build: Build, source: Source, nightlies: NightlyMap | None, missing: list[str]) -> End:
    try:
        return revision_of(build, source, nightlies)
    except (HistoryUnavailable, RevisionUnknown) as error:
        missing.append(_said(f"The commit of {build.version} is not known", error))
        return error


def _link(source: Source, before: Build, after: Build, first: End, last: End) -> str | None:
    """By what the builds say of themselves: a revision that a wheel carries, else the tag that a release should have."""
    ends = [_named(build, end, source.project) for build, end in ((before, first), (after, last))]
    return source.compare_link(ends[0], ends[1]) if ends[0] and ends[1] else None


def _why_unavailable(*ends: End) -> str | None:
    errors = (end for end in ends if isinstance(end, HistoryUnavailable))
    return next((f"{error.what}; {error.advice}" for error in errors), None)


def _named(build: Build, end: End, project: Project) -> str | None:
    """What a link may call the commit of a build; None where that would lead to a wrong range, or to none."""
    if isinstance(end, Revision):
        return end.sha
    is_dated = is_dated_pre_release(build.version)
    is_nightly = is_dated and project.dated is DatedBuilds.NIGHTLY_BRANCH  # its revision is no commit of the main line
    if isinstance(end, RevisionUnknown) or is_nightly:
        return None
    return build.revision or (None if is_dated else next(iter(tags_of(build.version, project.tags)), None))


def _said(what: str, error: BisectError) -> str:
    return f"{what}: {error.what} ({error.where}). To have it: {error.advice}."
