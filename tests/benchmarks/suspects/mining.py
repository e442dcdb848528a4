"""Finds labelled regressions in clones: a fix whose message names the commit that broke things, and that brings a test.

``python -m tests.benchmarks.suspects.mining FOLDER`` looks at every clone below FOLDER and prints one JSON line a case:
repository, the fix, the culprit. Nothing else is kept: titles, files and tests are read from the clone when they are used.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.history.clone import ClonedSource
from bisect_tool.history.commit import Commit
from bisect_tool.history.messages import Nature, read_message
from bisect_tool.history.parts import Part, part_of
from bisect_tool.history.projects import Project
from bisect_tool.history.source import HistoryAccess, open_source

ENVIRON = {"PATH": "/usr/bin:/bin"}
_BLAMES = re.compile(
    r"\b(?:regress(?:ed|ion|ions|ing)?|broken|broke|bug|breakage|mistake|crash|problem|issues?|error|fail(?:s|ed|ing|ure)?)\b"
    r"[^#]{0,70}?\b(?:in|by|from|since|with|of|after|to)\b\s+(?:PR\s+|pull\srequest\s+|commit\s+|gh-)?"
    r"(?:#?(?P<pull>(?<=#)\d{2,6}|(?<=gh-)\d{2,6})|`?(?P<sha>[0-9a-f]{7,40})\b)",
    re.IGNORECASE,
)


def clones(folder: Path) -> Iterator[tuple[str, ClonedSource]]:
    """(`owner/name`, the clone) of the folders `owner+name/repo` below `folder`."""
    for path in sorted(folder.glob("*+*/repo")):
        name = path.parent.name.replace("+", "/", 1)
        branch = (path / "HEAD").read_text(encoding="utf-8").strip().removeprefix("ref: refs/heads/")
        source = open_source(Project(name, branch=branch), HistoryAccess(clone=path, environ=ENVIRON))
        assert isinstance(source, ClonedSource)
        yield name, source


def cases(source: ClonedSource) -> Iterator[tuple[Commit, Commit]]:
    """(fix, culprit) of one clone, newest first; the culprit is an earlier commit of the same history."""
    commits = source.line()
    place = {commit.sha: at for at, commit in enumerate(commits)}
    by_pull = {number: commit for commit in commits if (number := read_message(commit.title, commit.body).pull)}
    for commit in reversed(commits):
        told = read_message(commit.title, commit.body)
        blamed = [found for found in _BLAMES.finditer(commit.body) if told.nature is Nature.CHANGE]
        named = [_named(found, by_pull, commits) for found in blamed]
        culprits = {one.sha: one for one in named if one is not None and one.sha != commit.sha}
        if len(culprits) == 1 and place[next(iter(culprits))] < place[commit.sha]:
            yield commit, next(iter(culprits.values()))


def _named(found: re.Match[str], by_pull: dict[int, Commit], commits: tuple[Commit, ...]) -> Commit | None:
    if found["pull"]:
        return by_pull.get(int(found["pull"]))
    fitting = [commit for commit in commits if commit.sha.startswith(found["sha"].lower())]
    return fitting[0] if len(fitting) == 1 else None


def has_code_and_test(source: ClonedSource, fix: Commit, culprit: Commit) -> bool:
    """Whether the fix brings a test, and the culprit touches anything that ships."""
    touched = source.files([fix.sha, culprit.sha]).known
    tests = any("test" in file.path and file.path.endswith(".py") for file in touched[fix.sha])
    return tests and any(part_of(file) is not Part.INERT for file in touched[culprit.sha])


def main() -> None:
    """Print the cases of every clone."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suspects.mining")
    parser.add_argument("folder", type=Path)
    for name, source in clones(parser.parse_args().folder):
        for fix, culprit in cases(source):
            if has_code_and_test(source, fix, culprit):
                print(json.dumps({"repository": name, "fix": fix.sha, "culprit": culprit.sha}), flush=True)


if __name__ == "__main__":
    main()
