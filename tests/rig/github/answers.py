"""The JSON that GitHub gives for a repository, made from a real one with the program git.

The shapes follow https://docs.github.com/en/rest/commits; only fields that clients of this project could read are there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.rig.git_history.fast_import import ENVIRONMENT

COMPARE_WITHOUT_PAGING = 250
FILES_PER_PAGE = 300
_LANDED = re.compile(r"Pull Request resolved: https://github.com/[^/]+/[^/]+/pull/(\d+)|\(#(\d+)\)")
_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "T": "changed", "C": "copied"}


class Repository:
    """A repository, and the name and address that GitHub would give it."""

    def __init__(self, folder: Path, name: str, url: str) -> None:
        self.folder = folder
        self.name = name
        self.url = url

    def about(self) -> dict[str, Any]:
        """`GET /repos/{name}`."""
        return {"full_name": self.name, "html_url": f"https://github.com/{self.name}", "private": False}

    def find(self, revision: str) -> str | None:
        """The hash of a revision."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            found = self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", may_fail=True).strip()
            if found:
                return found
        return None

    def commit(self, sha: str) -> dict[str, Any]:
        """A commit without its files."""
        return self._commits("--no-walk", sha)[0]

    def files(self, sha: str) -> list[dict[str, Any]]:
        """All files of a commit, with renames as GitHub finds them."""
        printed = self._git("diff-tree", "-r", "-z", "--root", "--no-commit-id", "-M", "--name-status", "-m",
                            "--diff-merges=first-parent", sha)  # fmt: skip
        parts = iter(printed.split("\0")[:-1])
        files = []
        for letter in parts:
            first = next(parts)
            renamed = letter[0] in "RC"
            entry = {"filename": next(parts) if renamed else first, "status": _STATUS[letter[0]], "patch": "@@ @@"}
            files.append(entry | ({"previous_filename": first} if renamed else {}))
        return files

    def listed(self, start: str, since: str | None, until: str | None) -> list[dict[str, Any]]:
        """`GET /commits?sha=`: newest first."""
        limits = [f"--since={since}"] if since else []
        limits += [f"--until={until}"] if until else []
        return self._commits(*limits, start)

    def compared(self, base: str, head: str) -> dict[str, Any] | None:
        """`GET /compare/base...head` with all commits, oldest first; None without a common past."""
        merge_base = self._git("merge-base", base, head, may_fail=True).strip()
        if not merge_base:
            return None
        commits = list(reversed(self._commits("--date-order", f"{base}..{head}")))
        behind = int(self._git("rev-list", "--count", f"{head}..{base}"))
        return {
            "status": "diverged" if behind and commits else "ahead" if commits else "behind" if behind else "identical",
            "ahead_by": len(commits),
            "behind_by": behind,
            "total_commits": len(commits),
            "base_commit": self.commit(base),
            "merge_base_commit": self.commit(merge_base),
            "commits": commits,
        }

    def pulls(self, sha: str) -> list[dict[str, Any]]:
        """`GET /commits/{sha}/pulls`, as far as the message says."""
        message = self.commit(sha)["commit"]["message"]
        numbers = [one or other for one, other in _LANDED.findall(message)]
        return [
            {"number": int(number), "html_url": f"https://github.com/{self.name}/pull/{number}"}
            for number in numbers[:1]
        ]

    def _commits(self, *words: str) -> list[dict[str, Any]]:
        form = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%B"
        fields = self._git("log", "-z", form, *words, "--").split("\0")[:-1]
        return [self._shaped(fields[at : at + 7]) for at in range(0, len(fields), 7)]

    def _shaped(self, fields: Sequence[str]) -> dict[str, Any]:
        sha, parents, name, address, authored, committed, message = fields
        return {
            "sha": sha,
            "url": f"{self.url}/repos/{self.name}/commits/{sha}",
            "html_url": f"https://github.com/{self.name}/commit/{sha}",
            "commit": {
                "author": {"name": name, "email": address, "date": _stamp(authored)},
                "committer": {"name": "GitHub", "email": "noreply@github.com", "date": _stamp(committed)},
                "message": message.rstrip("\n"),
            },
            "author": {"login": name.split()[0].lower()} if name else None,
            "parents": [{"sha": parent} for parent in parents.split()],
        }

    def _git(self, *words: str, may_fail: bool = False) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words], env=ENVIRONMENT, check=not may_fail, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _stamp(seconds: str) -> str:
    return datetime.fromtimestamp(int(seconds), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
