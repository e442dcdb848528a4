"""The mined cases (`mined.jsonl`): real regressions in the real history around them, read from clones.

What a reporter would have is not known; the clue is the code that the fix added to the tests with a few lines around it, which
is the repro as somebody wrote it down later. The range is up to `STEPS` landings on the first-parent line, with the culprit at
a place that its hash decides, and ends before the fix.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.history.clone import ClonedSource
from bisect_tool.history.clues import Clues, collect_clues
from bisect_tool.history.folding import Listed, fold
from tests.benchmarks.suspects.mining import clones

STEPS = 60
CASES = Path(__file__).with_name("mined.jsonl")


@dataclass(frozen=True, slots=True)
class Question:
    """A range, the clues, and the hashes that are right: the culprit, and what belongs to the same pull request."""

    name: str
    listed: tuple[Listed, ...]
    clues: Clues
    right: frozenset[str]
    is_held_out: bool = False


def mined_questions(folder: Path) -> Iterator[Question]:
    """The questions of those repositories that have a clone in `folder`."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for name, source in clones(folder):
        own = [row for row in rows if row["repository"] == name]
        spine = spine_of(source) if own else []
        for row in own:
            yield _question(name, source, spine, row)


def _question(name: str, source: ClonedSource, spine: list[str], row: Mapping[str, str]) -> Question:
    """`fresh` rows are of repositories that were mined when the weights stood; of the others, half was held out."""
    fix, culprit = row["fix"], row["culprit"]
    landed = landing(source, spine, culprit)
    at, ahead = spine.index(landed), int(culprit[:8], 16) % STEPS
    first = max(0, at - 1 - ahead)
    last = max(at, min(spine.index(landing(source, spine, fix)) - 1, first + STEPS))
    commits = source.commits(spine[first], spine[last]).commits
    listed = fold(commits, source.files([commit.sha for commit in commits]).known)
    before = source.commit(landed).parents[0]
    right = {commit.sha for commit in source.commits(before, landed).commits}
    script = added_to_tests(source, fix)
    return Question(
        f"{name} {culprit[:10]}",
        listed,
        collect_clues(script=script),
        frozenset(right),
        "fresh" in row or int(culprit[8:10], 16) % 2 == 1,
    )


def spine_of(source: ClonedSource) -> list[str]:
    """The first-parent line, oldest first."""
    return source.git.call("rev-list", "--first-parent", "--reverse", source.project.branch, "--").decode().split()


def landing(source: ClonedSource, spine: list[str], sha: str) -> str:
    """The commit of the first-parent line that brought `sha`."""
    if sha in set(spine):
        return sha
    after = (
        source.git.call("rev-list", "--ancestry-path", "--reverse", f"{sha}..{source.project.branch}", "--")
        .decode()
        .split()
    )
    inside = set(spine)
    return next(commit for commit in after if commit in inside)


def added_to_tests(source: ClonedSource, fix: str) -> str:
    """The lines that the fix added to Python files of the tests, and those around them."""
    command = ["git", "-C", source.place, "diff", "-U6", f"{fix}^", fix, "--", "*test*.py"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    return "\n".join(
        line[1:] for line in printed.splitlines() if line.startswith(("+", " ")) and not line.startswith("+++")
    )
