"""What a commit message says: pull request, whether it takes something back or brings it again, series, cherry-pick.

Written by people, by GitHub's buttons and by merge bots. The forms that are known, with where they were seen, are in
`docs/history.md`. The body is believed only when the title agrees: a squash merge lists the messages of all its pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

_RESOLVED = re.compile(r"^Pull Request resolved: https?://[^/\s]+/[^/\s]+/[^/\s]+/pull/(\d+)\s*$", re.MULTILINE)
_MERGED = re.compile(r"Merge pull request #(\d+) from ")
_NUMBER_BEHIND = re.compile(r"\s*\(#(\d+)\)\s*$")
_STACK = re.compile(r"^ghstack dependencies: (.+)$", re.MULTILINE)
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{7,40})\)")

_REVERTS = re.compile(
    r"(?:\[(?:revert|back ?out|rollback)\]:?|(?:partial(?:ly)? )?revert(?:s|ed|ing)?\b:?"
    r"|back(?:ing)?[ -]?out\b(?: of)?:?|roll(?:ing)?[ -]?back\b(?: of)?:?)\s*",
    re.IGNORECASE,
)
_RELANDS = re.compile(
    r"(?:\[re-?(?:land|apply)[^\]]{0,12}\]:?|re-?(?:land|apply)(?:ed|ing)?\b(?: of)?:?|re-?apply\b:?)\s*", re.IGNORECASE
)
_RELANDS_BEHIND = re.compile(r"\s*[\[(]re-?land(?:ed)?[^\])]{0,12}[\])]\s*$", re.IGNORECASE)
_QUOTED = re.compile(r"""["“'](?P<inside>.*)["”']""")
_PARTIAL = re.compile(r"^partial(?:ly)?\b|\bpartial(?:ly)? revert", re.IGNORECASE)

_UNDONE_COMMIT = re.compile(r"\breverts? commits? ([0-9a-f]{7,40})\b", re.IGNORECASE)
_UNDONE_PULL = re.compile(
    r"^(?:Reverts |Reverted )(?:pull request |PR )?(?:[\w.-]+/[\w.-]+)?(?:#|https?://\S+/pull/)(\d+)", re.MULTILINE
)
_NAMED_PULLS = re.compile(r"^(?:PRs? )?#?\d{2,7}\b(?:(?:,| and|,? &)? ?#\d{2,7}\b)*")
_NAMED_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DIFF = re.compile(r"^Differential Revision:.*?\b(D\d{6,12})\b", re.MULTILINE)
_UNDONE_DIFF = re.compile(r"^(?:Original Phabricator Diff: *)?(D\d{6,12})\b", re.MULTILINE)
_AGAIN_PULL = re.compile(
    r"\bre-?land(?:s|ed|ing)?(?: of)?:? (?:PR )?(?:[\w.-]+/[\w.-]+)?(?:#|https?://\S+/pull/)(\d+)", re.IGNORECASE
)
_DEEPEST = 8
_T = TypeVar("_T")
_MOST_NUMBERS = 4
_LONGEST_TITLE = 2000


class Nature(StrEnum):
    """What a commit is by its own words."""

    CHANGE = "change"
    REVERT = "revert"
    RELAND = "reland"


@dataclass(frozen=True, slots=True)
class Told:
    """What a message says.

    `title` is that of the change itself, without numbers and without the words for taking back. `undone` are the commits
    (full or abbreviated) and `undone_pulls` the pull requests that it takes back; `again_pulls` those that it brings again.
    `diff` and `undone_diffs` are the same as numbers of Meta's review system, which projects that are mirrored there have.
    `stack` are the pull requests below it in a ghstack series, `picked_from` the commit that it was cherry-picked from.
    """

    title: str
    nature: Nature = Nature.CHANGE
    pull: int | None = None
    undone: tuple[str, ...] = ()
    undone_pulls: tuple[int, ...] = ()
    undone_diffs: tuple[str, ...] = ()
    again_pulls: tuple[int, ...] = ()
    diff: str | None = None
    is_partial: bool = False
    stack: tuple[int, ...] = ()
    picked_from: str | None = None


def read_message(title: str, body: str) -> Told:
    """What a commit message says."""
    title = title[:_LONGEST_TITLE]
    peeled = _peel(title)
    takes_back, is_wrapped = peeled.reverts > 0, peeled.reverts + peeled.relands > 0
    stack = _STACK.search(body)
    return Told(
        peeled.title,
        _nature(peeled),
        _own_pull(title, body),
        undone=_undone_commits(peeled, body) if is_wrapped else (),
        undone_pulls=_undone_pulls(peeled, body) if takes_back else (),
        undone_diffs=_unique(_UNDONE_DIFF.findall(f"{peeled.title}\n{body}")) if takes_back else (),
        again_pulls=_unique(map(int, _AGAIN_PULL.findall(f"{title}\n{body}"))) if peeled.relands else (),
        diff=(_DIFF.findall(body) or [None])[-1],
        is_partial=bool(_PARTIAL.search(title)),
        stack=tuple(int(number) for number in re.findall(r"#(\d+)", stack[1])) if stack else (),
        picked_from=(_PICKED.findall(body) or [None])[-1],
    )


@dataclass(frozen=True, slots=True)
class _Peeled:
    """A title without its wrappers: how many there were, and the number that stood right inside the outermost one."""

    title: str
    reverts: int
    relands: int
    inside_pull: int | None


def _peel(title: str) -> _Peeled:
    text, reverts, relands, inside = title.strip(), 0, 0, None
    for depth in range(_DEEPEST):
        text, number = _without_number(text)
        if depth == 1:
            inside = number
        behind = _RELANDS_BEHIND.search(text)
        if found := _REVERTS.match(text):
            reverts, text = reverts + 1, _unquoted(text[found.end() :])
        elif found := _RELANDS.match(text):
            relands, text = relands + 1, _unquoted(text[found.end() :])
        elif behind:
            relands, text = relands + 1, text[: behind.start()]
        else:
            break
    return _Peeled(" ".join(text.split()), reverts, relands, inside)


def _nature(peeled: _Peeled) -> Nature:
    """Taking back what took something back brings it again."""
    if peeled.reverts % 2:
        return Nature.REVERT
    return Nature.RELAND if peeled.reverts or peeled.relands else Nature.CHANGE


def _without_number(text: str) -> tuple[str, int | None]:
    """The text without the numbers behind it, and the last of them: a cherry-pick has the original's before its own."""
    number = None
    for _ in range(_MOST_NUMBERS):
        found = _NUMBER_BEHIND.search(text)
        if found is None:
            break
        text, number = text[: found.start()], number or int(found[1])
    return text, number


def _unquoted(text: str) -> str:
    """What stands in the outer quotes, if it begins with one; a remark behind them is left out."""
    found = _QUOTED.match(text)
    return found["inside"] if found else text


def _own_pull(title: str, body: str) -> int | None:
    """The last `Pull Request resolved:` counts, because the merge bot appends it; else the number behind the title."""
    if resolved := _RESOLVED.findall(body):
        return int(resolved[-1])
    if merged := _MERGED.match(title):
        return int(merged[1])
    return _without_number(title)[1]


def _undone_commits(peeled: _Peeled, body: str) -> tuple[str, ...]:
    """Those that the body names, else the hash that is the whole title."""
    named = _UNDONE_COMMIT.findall(body)
    return _unique(named or ([peeled.title] if _NAMED_COMMIT.fullmatch(peeled.title) else []))


def _undone_pulls(peeled: _Peeled, body: str) -> tuple[int, ...]:
    found = [] if peeled.inside_pull is None else [peeled.inside_pull]
    if named := _NAMED_PULLS.match(peeled.title):
        found += [int(number) for number in re.findall(r"\d+", named[0])]
    return _unique([*found, *(int(number) for number in _UNDONE_PULL.findall(body))])


def _unique(found: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(found))
