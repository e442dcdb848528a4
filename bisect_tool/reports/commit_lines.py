"""The commits at an end as a reader needs them: which to look at first and why, how many there are, what cancels out. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.reports.commits import CommitRow, Commits, Suspect, Suspicion
from bisect_tool.reports.report import Boundary

MOST_FIRST = 5
FEW = 5  # so few are shown all, also those without a reason
FAINT = 3.0  # points: less is one common word, and an opening sentence makes much of it
_SHA = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"https?://[^\s\"'<>()]+")


@dataclass(frozen=True, slots=True)
class ShownCommit:
    """One commit. `remarks` say what it has to do with others; `reasons` why it is suspected; links only to web pages."""

    sha: str
    title: str
    by: str
    pull: str
    link: str | None
    pull_link: str | None
    files: tuple[str, ...]
    more_files: int
    remarks: tuple[str, ...]
    reasons: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """Twelve digits."""
        return self.sha[:12]


@dataclass(frozen=True, slots=True)
class ShownCommits:
    """`heading` counts; `first` are to be looked at first, which `first_says` behind it; `every` are all in order."""

    heading: str
    first_says: str
    first: tuple[ShownCommit, ...]
    every: tuple[ShownCommit, ...]
    notes: tuple[str, ...]
    link: str | None


def show_commits(commits: Commits, suspicion: Suspicion | None) -> ShownCommits:
    """The commits of a boundary for one failure."""
    rows = commits.rows or ()
    suspicion = suspicion or Suspicion()
    suspects = {suspect.sha: suspect for suspect in suspicion.suspects}
    ruled_out = {one.sha: one.reason for one in suspicion.ruled_out}
    every = tuple(_shown(row, commits, suspects.get(row.sha), ruled_out.get(row.sha)) for row in rows)
    open_rows = [row for row in rows if row.folded_with is None and row.sha not in ruled_out]
    first, says = _first(every, open_rows, suspects)
    notes = (*_ruled_out(ruled_out), *commits.notes)
    return ShownCommits(_heading(commits), says, first, every, notes, web_address(commits.link))


def _ruled_out(reasons: Mapping[str, str]) -> tuple[str, ...]:
    counted = Counter(reasons.values())
    return tuple(
        f"{count} {'commit is' if count == 1 else 'commits are'} ruled out: {why}." for why, count in counted.items()
    )


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The commit to look at first at a change, and `text`: one sentence that says so."""

    sha: str
    text: str


def look_first(at: Boundary, suspicion: Suspicion | None) -> FirstLook | None:
    """The commit to look at first; None when there is none with more than a faint reason."""
    if at.commits is None or not at.commits.rows:
        return None
    shown = show_commits(at.commits, suspicion)
    ends = f"between {at.before} and {at.after}"
    if len(shown.every) == 1:
        return FirstLook(shown.every[0].sha, f"{ends[:1].upper()}{ends[1:]} is one commit: {_named(shown.every[0])}.")
    best = suspicion.suspects[0] if suspicion and suspicion.suspects else None
    if best is None or best.points < FAINT or not shown.first:
        return None
    first = shown.first[0]
    why = first.reasons[0] if first.reasons[0].startswith("its ") else f"it {first.reasons[0]}"
    return FirstLook(first.sha, f"Of the {shown.heading} {ends} look first at {_named(first)}: {why}.")


def _named(one: ShownCommit) -> str:
    return f"{one.short}{f', {one.pull}' if one.pull else ''} “{one.title}” by {one.by}"


def web_address(text: str | None) -> str | None:
    """A link in a report leads to a web page and nowhere else."""
    return text if text and _ADDRESS.fullmatch(text) else None


def _heading(commits: Commits) -> str:
    if commits.rows is None:
        return "the commits are not known"
    if not commits.rows:
        return "no commits"
    folded = sum(row.folded_with is not None for row in commits.rows)
    count = len(commits.rows)
    told = f"{count} commit" if count == 1 else f"{count} commits"
    return f"{told} ({folded} of them cancel out)" if folded else told


def _first(
    every: Sequence[ShownCommit], open_rows: Sequence[CommitRow], suspects: Mapping[str, Suspect]
) -> tuple[tuple[ShownCommit, ...], str]:
    """The best suspects; when few commits can be it, all of these."""
    by_sha = {one.sha: one for one in every}
    ranked = [by_sha[sha] for sha in suspects if sha in by_sha][:MOST_FIRST]
    if len(open_rows) <= FEW:
        rest = [by_sha[row.sha] for row in open_rows if row.sha not in suspects]
        return (*ranked, *rest)[:FEW], ":" if open_rows else ""
    return tuple(ranked), ", look first at:" if ranked else ""


def _shown(row: CommitRow, commits: Commits, suspect: Suspect | None, ruled_out: str | None) -> ShownCommit:
    pull = f"#{row.pull}" if row.pull is not None else ""
    is_hash = _SHA.fullmatch(row.sha) is not None
    files = row.files or ()
    return ShownCommit(
        sha=row.sha,
        title=re.sub(rf"\s*\({re.escape(pull)}\)$", "", row.title) if pull else row.title,
        by=f"{row.author}{f' (@{row.login})' if row.login not in (None, row.author) else ''}, {row.date[:10]}",
        pull=pull,
        link=web_address(f"{commits.address}/commit/{row.sha}") if is_hash else None,
        pull_link=web_address(f"{commits.address}/pull/{row.pull}") if pull else None,
        files=files,
        more_files=max(0, (row.files_count or 0) - len(files)),
        remarks=(*_remarks(row), *([f"ruled out: {ruled_out}"] if ruled_out else [])),
        reasons=(*suspect.reasons, *(f"but {doubt}" for doubt in suspect.doubts)) if suspect else (),
    )


def _remarks(row: CommitRow) -> tuple[str, ...]:
    said = [
        f"cancels out with {row.folded_with[:12]}" if row.folded_with else "",
        f"takes back {_hashes(row.takes_back)}" if row.takes_back and not row.folded_with else "",
        f"brings again {row.brings_again[:12]}" if row.brings_again else "",
        f"series {row.series}" if row.series is not None else "",
        "the older build has it as a cherry-pick" if row.in_base else "",
    ]
    return tuple(text for text in said if text)


def _hashes(shas: Sequence[str]) -> str:
    return ", ".join(sha[:12] for sha in shas)
