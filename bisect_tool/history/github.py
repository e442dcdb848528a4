"""A history read from GitHub's API (https://docs.github.com/en/rest)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from bisect_tool.errors import HistoryUnavailable, RevisionUnknown
from bisect_tool.history import github_answers as answers
from bisect_tool.history.answer_cache import AnswerCache
from bisect_tool.history.commit import ChangedFile, Commit, Span, TouchedFiles
from bisect_tool.history.github_session import GitHubSession, Page, Pick, Refused
from bisect_tool.history.nightlies import NightlyMap, committed_around, map_nightlies
from bisect_tool.history.projects import Project
from bisect_tool.history.source import HistoryAccess, is_plain

_FULL = re.compile(r"[0-9a-f]{40}")
_PER_PAGE = 100
_MOST_COMMITS = 10_000
# One request a commit: of the 60 an hour without a token, some must be left for the next range.
FILES_WITHOUT_TOKEN = 40
FILES_WITH_TOKEN = 1000


class _NoCommonPast(HistoryUnavailable):
    """GitHub compares no commits without a common ancestor."""


def open_github(project: Project, access: HistoryAccess) -> GitHubSource:
    """The API that answers for `project`, or the one at `access.api`. Asks nothing yet."""
    api = (access.api or project.api).rstrip("/")
    cache = AnswerCache(access.cache) if access.cache else None
    return GitHubSource(GitHubSession(api, access.token, cache, access.offline, fresh_for=access.fresh_for), project)


@dataclass(frozen=True, slots=True)
class GitHubSource:
    """Asks GitHub about one project. A range costs a request for each hundred commits, its files one for each commit."""

    session: GitHubSession
    project: Project

    @property
    def place(self) -> str:
        """The address of the API for this repository."""
        return f"{self.session.api}{self._at('')}"

    def resolve(self, revision: str) -> str:
        """The full hash of a hash, tag or branch. A full hash is taken as it is: whether it exists shows when it is used."""
        revision = revision.strip()
        return revision if _FULL.fullmatch(revision) else self.commit(revision).sha

    def commit(self, revision: str) -> Commit:
        """One commit."""
        return answers.read_commit(self._commit_page(revision).content)

    def commits(self, base: str, head: str) -> Span:
        """What `head` has and `base` has not, a hundred commits a request."""
        first, last = self.resolve(base), self.resolve(head)
        pages = list(self._comparison(first, last))
        start = pages[0]
        found = [answers.read_commit(commit) for page in pages for commit in page["commits"]]
        left_out = max(0, start["total"] - len(found))
        return Span(first, last, start["merge_base"], answers.in_order(found), start["only_base"], left_out)

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that both have."""
        try:
            found = next(self._comparison(self.resolve(one), self.resolve(other)))["merge_base"]
        except _NoCommonPast:
            return None
        return None if found is None else str(found)

    def newest_before(self, moment: datetime) -> Commit | None:
        """What the development branch held then, as far as the times of its commits tell."""
        parameters = {"sha": self.project.branch, "until": _stamp(moment), "per_page": "1"}
        found = self._get("/commits", answers.pick_commits, parameters, self.project.branch).content
        return answers.read_commit(found[0]) if found else None

    def nightlies(self, since: date, until: date) -> NightlyMap:
        """The nightlies of these days, a hundred a request."""
        branch = self.project.nightly_branch
        if branch is None:
            return NightlyMap(())
        start, end = committed_around(since, until)
        parameters = {"sha": branch, "since": _day(start), "until": _day(end), "per_page": str(_PER_PAGE)}
        page: Page | None = self._get("/commits", answers.pick_commits, parameters, branch)
        commits: list[Commit] = []
        while page is not None:
            commits += [answers.read_commit(commit) for commit in page.content]
            page = self._page(page.next, answers.pick_commits, branch) if page.next else None
        return map_nightlies(reversed(commits)).between(since, until)

    def files(self, shas: Sequence[str]) -> TouchedFiles:
        """The files of each commit, one request each and no more than the rate limit bears."""
        wanted = list(dict.fromkeys(shas))
        most = FILES_WITH_TOKEN if self.session.token else FILES_WITHOUT_TOKEN
        found: dict[str, tuple[ChangedFile, ...]] = {}
        why = f"files are asked for {most} commits at most" + ("" if self.session.token else " without GITHUB_TOKEN")
        for sha in wanted[:most]:
            try:
                found[sha] = self._files_of(sha)
            except (HistoryUnavailable, RevisionUnknown) as error:
                why = f"{error.what}; {error.advice}"
                break
        missing = tuple(sha for sha in wanted if sha not in found)
        return TouchedFiles(found, missing, why if missing else None)

    def compare_link(self, base: str, head: str) -> str:
        """The page on the server."""
        return self.project.compare_link(base, head)

    def moved_to(self) -> str | None:
        """The new address of a repository that answered under its old one; None when it did not move."""
        if not self.session.was_moved:
            return None
        return str(self.session.get(self._at(""), lambda answer: answer["full_name"]).content)

    def _files_of(self, sha: str) -> tuple[ChangedFile, ...]:
        page: Page | None = self._commit_page(sha)
        rows: list[Any] = []
        while page is not None:
            rows += page.content["files"]
            more = page.next
            page = self._page(more, answers.pick_commit_with_files, sha, fixed=True) if more else None
        return answers.read_files(rows)

    def _commit_page(self, revision: str) -> Page:
        if not is_plain(revision):
            raise self._unknown(revision)
        fixed = bool(_FULL.fullmatch(revision))
        name = quote(revision, safe="/", errors="replace")
        return self._get(f"/commits/{name}", answers.pick_commit_with_files, {}, revision, fixed=fixed)

    def _comparison(self, base: str, head: str) -> Iterator[dict[str, Any]]:
        """The pages of a comparison of two full hashes."""
        path = f"/compare/{base}...{head}"
        seen, number = 0, 0
        while True:
            number += 1
            parameters = {"per_page": str(_PER_PAGE), "page": str(number)}
            page = self._get(path, answers.pick_comparison, parameters, f"{base}...{head}", fixed=True).content
            yield page
            seen += len(page["commits"])
            if not page["commits"] or seen >= min(page["total"], _MOST_COMMITS):
                return

    def _get(self, path: str, pick: Pick, parameters: dict[str, str], revision: str, *, fixed: bool = False) -> Page:
        try:
            return self.session.get(self._at(path), pick, parameters, fixed=fixed)
        except Refused as error:
            raise self._explained(error, revision) from error

    def _page(self, address: str, pick: Pick, revision: str, *, fixed: bool = False) -> Page:
        """A further page, by the address that the one before gave; another server is not followed with our token."""
        if not address.startswith(f"{self.session.api}/"):
            raise HistoryUnavailable(
                "the next page is on another server", where=address, advice="give a clone with --repo"
            )
        try:
            return self.session.get(address, pick, fixed=fixed)
        except Refused as error:
            raise self._explained(error, revision) from error

    def _at(self, path: str) -> str:
        return f"/repos/{self.project.repository}{path}"

    def _explained(self, error: Refused, revision: str) -> HistoryUnavailable | RevisionUnknown:
        """404 is what GitHub says of a commit, and of a repository, that is not there or not to be seen."""
        if "common ancestor" in error.said:
            advice = "look at the revisions; a clone (--repo) can still list what the second has"
            return _NoCommonPast(f"the two have no common past: {revision}", where=self.place, advice=advice)
        if error.status != 409 and self._exists():
            return self._unknown(revision)
        what = f"GitHub has no repository {self.project.repository} that can be read: {error.said}"
        advice = "look at `source`; a private one needs a token with the right to read it in GITHUB_TOKEN"
        return HistoryUnavailable(what, where=self.place, advice=advice)

    def _unknown(self, revision: str) -> RevisionUnknown:
        return RevisionUnknown(
            f"the repository has no such commit, tag or branch: {revision!r}",
            where=self.place,
            advice="look at the spelling; a commit that a forced push removed may still be in an old clone (--repo)",
        )

    def _exists(self) -> bool:
        try:
            self.session.get(self._at(""), lambda answer: answer["full_name"])
        except Refused:
            return False
        return True


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _day(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
