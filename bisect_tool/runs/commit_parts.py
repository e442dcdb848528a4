"""The commits between two builds as the report has them: the text of others made fit to be shown, everything kept. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bisect_tool.history.between import Between
from bisect_tool.history.folding import Listed
from bisect_tool.history.listing import CommitList
from bisect_tool.history.projects import Project
from bisect_tool.history.revisions import Revision
from bisect_tool.history.showing import shown
from bisect_tool.history.suspects import Ranking
from bisect_tool.reports.commits import BuildCommit, CommitRow, Commits, RuledOut, Suspect, Suspicion

MOST_FILES = 200  # of one commit; the others are counted
_LONGEST_PATH = 1000
_LONGEST_SENTENCE = 1200


def commits_part(project: Project, found: Between) -> Commits:
    """What lies between two builds."""
    return Commits(
        repository=project.repository,
        address=project.address,
        link=found.link if found.link and not found.is_same_commit else None,
        before=_build_commit(found.before),
        after=_build_commit(found.after),
        same_commit=found.is_same_commit,
        rows=None if found.commits is None else _rows(found.commits),
        notes=tuple(shown(note, _LONGEST_SENTENCE) for note in found.notes()),
    )


def no_commits(project: Project, why: str, link: str | None = None) -> Commits:
    """The part of a report whose history could not be read; `why` is a sentence."""
    return Commits(repository=project.repository, address=project.address, link=link, notes=(why,))


def suspicion_part(ranking: Ranking) -> Suspicion:
    """The ranking of the commits for one failure."""
    suspects = tuple(
        Suspect(
            sha=suspect.entry.sha,
            points=round(suspect.points, 2),
            reasons=tuple(shown(reason.text) for reason in suspect.reasons),
            doubts=tuple(shown(doubt) for doubt in suspect.doubts),
        )
        for suspect in ranking.suspects
    )
    ruled_out = tuple(RuledOut(sha=entry.sha, reason=shown(why)) for entry, why in ranking.ruled_out)
    return Suspicion(suspects=suspects, ruled_out=ruled_out)


def _build_commit(revision: Revision | None) -> BuildCommit | None:
    if revision is None:
        return None
    return BuildCommit(
        sha=revision.sha,
        certain=revision.is_certain,
        basis=revision.basis.value,
        how=shown(revision.how),
        earliest=revision.earliest,
        latest=revision.latest,
        carried=revision.carried,
    )


def _rows(listed: CommitList) -> tuple[CommitRow, ...]:
    numbers = {sha: number for number, series in enumerate(listed.series, 1) for sha in series}
    return tuple(_row(entry, numbers) for entry in listed.listed)


def _row(entry: Listed, series: Mapping[str, int]) -> CommitRow:
    commit, told, files = entry.commit, entry.told, entry.files
    return CommitRow.model_validate(
        {
            "sha": commit.sha,
            "title": shown(commit.title),
            "author": shown(commit.author, 100),
            "login": None if commit.login is None else shown(commit.login, 100),
            "date": commit.date.isoformat(),
            "pull": told.pull,
            "nature": entry.nature.value,
            "files": None if files is None else tuple(shown(f.path, _LONGEST_PATH) for f in files[:MOST_FILES]),
            "files_count": None if files is None else len(files),
            "folded_with": entry.folded_with,
            "takes_back": entry.takes_back,
            "brings_again": entry.brings_again,
            "series": series.get(commit.sha),
            "in_base": entry.is_in_base,
        }
    )
