"""Makes a real git repository with the shape of pytorch's: main, the nightly branch, release branches, tags."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.rig.git_history import messages
from tests.rig.git_history.fast_import import ENVIRONMENT, FastImport, Signed

Files = Mapping[str, str | bytes | None]
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
NIGHTLY = "nightly"


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that was written; `before` and `after` hold the content of the files that it touches (None: not there)."""

    sha: str
    title: str
    pull: int | None
    when: datetime
    branch: str
    before: Mapping[str, bytes | None] = field(repr=False, default_factory=dict)
    after: Mapping[str, bytes | None] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class MadeNightly:
    """A commit of the nightly branch and the commit of main that it holds."""

    day: date
    sha: str
    main: str


class GitHistory:
    """Writes a repository into `folder` (bare), an hour a commit unless told otherwise.

    Use it in a `with` block: the repository is complete when the block ends. The same calls give the same hashes.
    """

    def __init__(self, folder: Path, *, start: datetime = START, main: str = "main") -> None:
        self.folder = folder
        self.main = main
        self.nightlies: list[MadeNightly] = []
        self.clock = start
        self._tips: dict[str, str] = {}
        self._trees: dict[str, dict[str, bytes]] = {}
        self._next_pull = 1001
        run_git("init", "--quiet", "--bare", f"--initial-branch={main}", str(folder))
        self._writer = FastImport(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()

    def write(
        self,
        message: str,
        files: Files | None = None,
        *,
        pull: int | None = None,
        branch: str | None = None,
        author: str = "Ada Example",
        when: datetime | None = None,
        merged: Sequence[str] = (),
        links: Mapping[str, str] | None = None,
    ) -> Made:
        """A commit with this very message on `branch` (left out: main); `when` is the time of author and committer.

        `merged` are the further parents of a merge, `links` the commits that submodules stand at.
        """
        branch = branch or self.main
        self.clock = when or self.clock + timedelta(hours=1)
        after = {path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()}
        tree = self._trees.setdefault(branch, {})
        before = {path: tree.get(path) for path in after}
        parents = ([self._tips[branch]] if branch in self._tips else []) + list(merged)
        signed = Signed(author, "someone@example.org", self.clock)
        sha = self._writer.commit(_ref(branch), message, signed, parents=parents, changes=after, links=links)
        self._tips[branch] = sha
        for path, content in after.items():
            if content is None:
                tree.pop(path, None)
            else:
                tree[path] = content
        return Made(sha, message.split("\n", 1)[0], pull, self.clock, branch, before, after)

    def land(
        self,
        title: str,
        files: Files,
        *,
        pull: int | None = None,
        body: str = "",
        stack: Sequence[int] = (),
        branch: str | None = None,
        author: str = "Ada Example",
        when: datetime | None = None,
    ) -> Made:
        """A pull request landed by the merge bot; `Made.title` is without its number."""
        pull = pull or self.next_pull()
        made = self.write(
            messages.landed(title, pull, body=body, stack=stack),
            files, pull=pull, branch=branch, author=author, when=when,
        )  # fmt: skip
        return Made(made.sha, title, pull, made.when, made.branch, made.before, made.after)

    def stack(self, titles: Sequence[str], files: Sequence[Files]) -> tuple[Made, ...]:
        """A ghstack series: consecutive commits, each of which names those below."""
        pulls = [self.next_pull() for _ in titles]
        return tuple(
            self.land(title, touched, pull=pull, stack=pulls[:at])
            for at, (title, touched, pull) in enumerate(zip(titles, files, pulls, strict=True))
        )

    def revert(self, made: Made, *, when: datetime | None = None) -> Made:
        """The merge bot takes back what `made` did; the files become what they were before it."""
        assert made.pull is not None
        return self.write(messages.reverted(made.title, made.pull, made.sha), made.before, when=when)

    def reland(self, made: Made, *, when: datetime | None = None, style: str = "Reland {title}") -> Made:
        """The same change under a new pull request; `style` also fits `Reapply "{title} (#{pull})"`."""
        title = style.format(title=made.title, pull=made.pull)
        return self.land(title, made.after, when=when)

    def nightly(self, day: date, main: str | None = None) -> MadeNightly:
        """A commit of the nightly branch, cut at 07:30 UTC: one parent, the tree of `main`, a subject with its hash."""
        main = main or self._tips[self.main]
        when = datetime(day.year, day.month, day.day, 7, 30, tzinfo=UTC)
        parents = [self.nightlies[-1].sha] if self.nightlies else []
        message = messages.nightly(day.isoformat(), main)
        signed = Signed("PyTorch Bot", "bot@example.org", when)
        tree = self._writer.tree_of(main)
        sha = self._writer.commit(_ref(NIGHTLY), message, signed, parents=parents, tree=tree)
        self.nightlies.append(MadeNightly(day, sha, main))
        return self.nightlies[-1]

    def branch(self, name: str, at: str | None = None) -> None:
        """Cut a branch from the tip of main, or from the commit `at` (which must be a tip for its files to be known)."""
        self._tips[name] = at or self._tips[self.main]
        self._trees[name] = dict(self._trees[self.main])
        self._writer.point(_ref(name), self._tips[name])

    def tag(self, name: str, at: str | None = None) -> str:
        """A lightweight tag on the tip of main, or on the commit `at`; gives that commit."""
        at = at or self._tips[self.main]
        self._writer.point(f"refs/tags/{name}", at)
        return at

    def tip(self, branch: str | None = None) -> str:
        """The newest commit of a branch."""
        return self._tips[branch or self.main]

    def next_pull(self) -> int:
        """A number for a pull request."""
        self._next_pull += 1
        return self._next_pull


def run_git(*words: str, at: Path | None = None) -> str:
    """What git prints; for tests that need a clone, a shallow one or a forced push."""
    place = ["-C", str(at)] if at else []
    done = subprocess.run(["git", *place, *words], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout


def _ref(branch: str) -> str:
    return f"refs/heads/{branch}"
