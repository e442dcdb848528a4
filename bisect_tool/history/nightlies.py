"""The nightly branch: which commit of main a nightly holds.

Each commit of that branch has one parent, the nightly before it; the commit of main stands in its subject only
(`2025-08-06 nightly release (74a754aa…)`). Two dates may hold the same commit, and one date may be cut twice.
https://github.com/pytorch/test-infra/blob/main/.github/actions/trigger-nightly/action.yml
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from bisect_tool.errors import RevisionUnknown
from bisect_tool.history.commit import Commit

_SUBJECT = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) nightly release \((?P<main>[0-9a-f]{40})\)\s*", re.IGNORECASE)
_SHORTEST = 7
_AROUND = timedelta(days=10)
_FIRST, _LAST = date(1990, 1, 1), date(2090, 1, 1)  # what git and GitHub take for a date


@dataclass(frozen=True, slots=True)
class Nightly:
    """The nightly of a day: `sha` on the nightly branch (what the wheel carries), `main` the commit that it holds."""

    day: date
    sha: str
    main: str


@dataclass(frozen=True, slots=True)
class NightlyMap:
    """The nightlies of a stretch of time, in the order of the branch, oldest first.

    The date of a wheel is that of its build job, which may be a day after the nightly's: where the wheel's own revision is
    known, use `main_of`, not `on`.
    """

    nightlies: tuple[Nightly, ...]

    def on(self, day: date) -> tuple[Nightly, ...]:
        """Those of a day: none, one, or several."""
        return tuple(nightly for nightly in self.nightlies if nightly.day == day)

    def newest_until(self, day: date) -> Nightly | None:
        """The newest one that is not later than `day`."""
        return next((nightly for nightly in reversed(self.nightlies) if nightly.day <= day), None)

    def covers(self, day: date) -> bool:
        """Whether there are nightlies from before `day` and from that day or later."""
        return bool(self.nightlies) and self.nightlies[0].day < day <= self.nightlies[-1].day

    def by_revision(self, revision: str) -> Nightly | None:
        """The one with this commit of the nightly branch, which may be abbreviated to seven digits.

        Raises `RevisionUnknown` when it fits several.
        """
        wanted = revision.lower()
        if len(wanted) < _SHORTEST:
            return None
        fitting = {n.sha: n for n in self.nightlies if n.sha.startswith(wanted)}
        if len(fitting) > 1:
            raise RevisionUnknown(
                f"several nightlies begin with {revision}", where="the nightly branch", advice="give more digits"
            )
        return next(iter(fitting.values()), None)

    def main_of(self, revision: str) -> str:
        """The commit of main that a nightly's revision stands for; any other revision is taken for one of main.

        So it is for builds from source and for releases, which carry their own commit.
        """
        nightly = self.by_revision(revision)
        return nightly.main if nightly else revision

    def groups(self) -> tuple[tuple[Nightly, ...], ...]:
        """Nightlies in a row that hold the same commit of main: there is no change between them to look for."""
        return tuple(tuple(group) for _, group in itertools.groupby(self.nightlies, key=lambda nightly: nightly.main))

    def between(self, since: date, until: date) -> NightlyMap:
        """Those from `since` to `until`, both included."""
        return NightlyMap(tuple(n for n in self.nightlies if since <= n.day <= until))


def read_nightly(sha: str, title: str) -> Nightly | None:
    """What the subject of a commit of the nightly branch says; None when it is another commit."""
    found = _SUBJECT.fullmatch(title)
    if found is None:
        return None
    try:
        day = date.fromisoformat(found["day"])
    except ValueError:
        return None
    return Nightly(day, sha, found["main"].lower())


def map_nightlies(commits: Iterable[Commit]) -> NightlyMap:
    """The map of a branch whose commits come oldest first; those that are no nightly are passed over."""
    return NightlyMap(tuple(n for c in commits if (n := read_nightly(c.sha, c.title))))


def committed_around(since: date, until: date) -> tuple[date, date]:
    """The days between which the nightlies of `since` to `until` were committed: some were cut days before or after."""
    first, last = max(since, _FIRST) - _AROUND, min(until, _LAST) + _AROUND
    return first, max(first, last)


def main_of_commit(commit: Commit) -> str:
    """The commit of main that a commit stands for: the one that a nightly names, else itself."""
    nightly = read_nightly(commit.sha, commit.title)
    return nightly.main if nightly else commit.sha


def days(nightlies: Sequence[Nightly]) -> str:
    """`2026-03-02`, or `2026-03-02 to 2026-03-06`."""
    first, last = nightlies[0].day, nightlies[-1].day
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"
