"""What GitHub's API answers, read. Only what is needed is kept, as plain JSON: a commit with its patches may be megabytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bisect_tool.history.commit import ChangedFile, Commit, Touch
from bisect_tool.history.git_output import split_message

_TOUCHES = {"added": Touch.ADDED, "copied": Touch.ADDED, "removed": Touch.DELETED}


def pick_commit(answer: Any) -> dict[str, Any]:
    """A commit out of any answer that has one."""
    inner = answer["commit"]
    author, committer = inner.get("author") or {}, inner.get("committer") or {}
    return {
        "sha": answer["sha"],
        "message": inner["message"],
        "author": author.get("name") or "",
        "login": (answer.get("author") or {}).get("login"),
        "date": committer.get("date") or author["date"],
        "parents": [parent["sha"] for parent in answer.get("parents", [])],
    }


def pick_commits(answer: Any) -> list[dict[str, Any]]:
    """A page of a list of commits."""
    return [pick_commit(commit) for commit in answer]


def pick_comparison(answer: Any) -> dict[str, Any]:
    """A page of a comparison."""
    merge_base = answer.get("merge_base_commit") or {}
    return {
        "merge_base": merge_base.get("sha"),
        "only_base": answer["behind_by"],
        "total": answer["total_commits"],
        "commits": pick_commits(answer["commits"]),
    }


def pick_commit_with_files(answer: Any) -> dict[str, Any]:
    """A commit and a page of its files."""
    files = [[f["filename"], f["status"], f.get("previous_filename")] for f in answer.get("files", [])]
    return pick_commit(answer) | {"files": files}


def read_commit(picked: dict[str, Any]) -> Commit:
    """A commit as `pick_commit` kept it."""
    title, body = split_message(picked["message"])
    date = datetime.fromisoformat(picked["date"]).astimezone(UTC)
    return Commit(picked["sha"], title, body, picked["author"], date, tuple(picked["parents"]), picked["login"] or None)


def read_files(rows: Sequence[Sequence[str | None]]) -> tuple[ChangedFile, ...]:
    """The files of a commit; a renamed one is a deletion and an addition, as git without rename detection has it."""
    files: list[ChangedFile] = []
    for path, status, previous in rows:
        if status == "renamed" and previous:
            files.append(ChangedFile(previous, Touch.DELETED))
            files.append(ChangedFile(path or "", Touch.ADDED))
        else:
            files.append(ChangedFile(path or "", _TOUCHES.get(status or "", Touch.MODIFIED)))
    return tuple(sorted(files, key=lambda file: file.path))


def in_order(commits: Sequence[Commit]) -> tuple[Commit, ...]:
    """Parents before children, else as they come: GitHub sorts by dates, which clocks get wrong."""
    waiting = {commit.sha: commit for commit in commits}
    placed: dict[str, Commit] = {}
    for commit in commits:
        path = [commit]
        while path:
            above = [waiting[sha] for sha in path[-1].parents if sha in waiting and sha not in placed]
            if above:
                path.append(above[0])
            else:
                placed.setdefault(path[-1].sha, path[-1])
                path.pop()
    return tuple(placed.values())
