"""Which commits of a range cancel out, which bring something again, which belong together. Pure.

A commit and the one that takes it back are folded only when both are in the range, the message names the other without
doubt, and both touch the same files where the files are known: a revert that leaves a part in place hides nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bisect_tool.history.commit import ChangedFile, Commit
from bisect_tool.history.messages import Nature, Told, read_message

_NUMBER = re.compile(r"\(#(\d+)\)")
_SHORTEST_TITLE = 12
Files = Mapping[str, tuple[ChangedFile, ...]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A commit in a list.

    `nature` is what it is by what it takes back: a revert of a revert is a reland, whatever it calls itself.
    `files` is None when they are not known. `folded_with` is the commit that cancels this one out. `takes_back` are the
    commits of the range that it takes back, in full or in part, folded or not; `brings_again` is the one that it relands.
    `takes_back_earlier`: what it takes back landed before the range. `is_in_base`: the other end has it as a cherry-pick.
    """

    commit: Commit
    told: Told
    nature: Nature
    files: tuple[ChangedFile, ...] | None = None
    folded_with: str | None = None
    takes_back: tuple[str, ...] = ()
    brings_again: str | None = None
    takes_back_earlier: bool = False
    is_in_base: bool = False

    @property
    def sha(self) -> str:
        """The full hash."""
        return self.commit.sha

    @property
    def stands(self) -> bool:
        """Whether it makes a difference between the two ends, as far as messages tell."""
        return self.folded_with is None


def fold(commits: Sequence[Commit], files: Files) -> tuple[Listed, ...]:
    """The commits, oldest first, with what they say about each other."""
    listed: list[Listed] = []
    for commit in commits:
        told = read_message(commit.title, commit.body)
        listed.append(Listed(commit, told, told.nature, files.get(commit.sha)))
    for at, entry in enumerate(listed):
        if entry.nature is not Nature.CHANGE:
            _relate(listed, at)
    return tuple(listed)


def _relate(listed: list[Listed], at: int) -> None:
    """Relate a revert or a reland to the commits before it."""
    targets, named = _targets(listed, at)
    if listed[at].nature is Nature.REVERT and targets and all(listed[t].nature is Nature.REVERT for t in targets):
        listed[at] = replace(listed[at], nature=Nature.RELAND)
    if listed[at].nature is Nature.REVERT:
        _take_back(listed, at, targets, named)
    else:
        _bring_again(listed, at, [target for target in targets if listed[target].nature is Nature.REVERT])


def series(listed: Sequence[Listed]) -> tuple[tuple[str, ...], ...]:
    """The ghstack series of two and more commits in the range, each in order."""
    by_pull = {entry.told.pull: entry for entry in listed if entry.told.pull is not None}
    groups: dict[str, list[str]] = {}
    for entry in listed:
        below = [by_pull[number].sha for number in entry.told.stack if number in by_pull]
        group = next((groups[sha] for sha in below if sha in groups), [])
        for sha in [*below, entry.sha]:
            if sha not in group:
                group.append(sha)
            groups[sha] = group
    found = {id(group): tuple(group) for group in groups.values() if len(group) > 1}
    return tuple(found.values())


def mark_picked(listed: Sequence[Listed], only_base: Sequence[Commit]) -> tuple[Listed, ...]:
    """Mark what the other end has too, under another hash: release branches get cherry-picks of what main has."""
    told = [read_message(commit.title, commit.body) for commit in only_base]
    picked = tuple(one.picked_from for one in told if one.picked_from)
    titles = {one.title for one in told if len(one.title) > _SHORTEST_TITLE}
    pulls = {int(number) for commit in only_base for number in _NUMBER.findall(commit.title)}

    def is_picked(entry: Listed) -> bool:
        return entry.sha.startswith(picked) or entry.told.title in titles or entry.told.pull in pulls

    return tuple(replace(entry, is_in_base=is_picked(entry)) for entry in listed)


def _take_back(listed: list[Listed], at: int, targets: list[int], named: int) -> None:
    entry = listed[at]
    listed[at] = replace(
        entry, takes_back=tuple(listed[t].sha for t in targets), takes_back_earlier=len(targets) < named
    )
    fresh = [target for target in targets if listed[target].folded_with is None]
    if len(targets) == named and fresh == targets and not entry.told.is_partial and _same_files(listed, targets, at):
        for target in targets:
            listed[target] = replace(listed[target], folded_with=entry.sha)
        listed[at] = replace(listed[at], folded_with=listed[targets[0]].sha)


def _bring_again(listed: list[Listed], at: int, reverts: list[int]) -> None:
    """A reland stands: it may differ from what was taken back. Only a revert of a revert with nothing else is folded."""
    entry = listed[at]
    first = _first_landing(listed, at)
    taken_back = [sha for t in reverts for sha in listed[t].takes_back]
    again = listed[first].sha if first is not None else next(iter(taken_back), None)
    listed[at] = replace(entry, brings_again=again, takes_back=tuple(listed[t].sha for t in reverts))
    is_alone = again is None and len(reverts) == 1 and listed[reverts[0]].folded_with is None
    if is_alone and entry.told.undone and _same_files(listed, reverts, at):
        listed[reverts[0]] = replace(listed[reverts[0]], folded_with=entry.sha)
        listed[at] = replace(listed[at], folded_with=listed[reverts[0]].sha)


def _first_landing(listed: Sequence[Listed], at: int) -> int | None:
    """The newest earlier commit of the range that landed the same change."""
    told = listed[at].told
    for before in range(at - 1, -1, -1):
        other = listed[before].told
        if listed[before].nature is Nature.REVERT:
            continue
        if (other.pull is not None and other.pull in told.again_pulls) or _same_title(other.title, told.title):
            return before
    return None


def _targets(listed: Sequence[Listed], at: int) -> tuple[list[int], int]:
    """The earlier commits of the range that this one takes back, and how many it names.

    By hash; by pull request when none of the hashes is here (a squash keeps those of the branch); by the number of the
    review; by title when nothing else is named.
    """
    told, earlier = listed[at].told, listed[:at]
    if by_hash := _found(_newest(earlier, _has_hash(sha)) for sha in told.undone):
        return by_hash, len(told.undone)
    if told.undone_pulls:
        return _found(_newest(earlier, _has_pull(number)) for number in told.undone_pulls), len(told.undone_pulls)
    if told.undone_diffs:
        return _found(_newest(earlier, _has_diff(diff)) for diff in told.undone_diffs), len(told.undone_diffs)
    return _found([_newest(earlier, _has_title(told.title, is_revert=told.nature is not Nature.REVERT))]), 1


def _found(places: Iterable[int | None]) -> list[int]:
    return sorted({place for place in places if place is not None})


def _has_hash(sha: str) -> Callable[[Listed], bool]:
    return lambda entry: entry.sha.startswith(sha)


def _has_pull(number: int) -> Callable[[Listed], bool]:
    return lambda entry: entry.told.pull == number


def _has_diff(diff: str) -> Callable[[Listed], bool]:
    return lambda entry: entry.told.diff == diff


def _has_title(title: str, *, is_revert: bool) -> Callable[[Listed], bool]:
    return lambda entry: (entry.nature is Nature.REVERT) is is_revert and _same_title(entry.told.title, title)


def _newest(earlier: Sequence[Listed], fits: Callable[[Listed], bool]) -> int | None:
    return next((place for place in range(len(earlier) - 1, -1, -1) if fits(earlier[place])), None)


def _same_title(one: str, other: str) -> bool:
    """Long titles are cut by GitHub's revert button, with an ellipsis."""
    one, other = sorted((one.casefold(), other.casefold()), key=lambda title: not title.endswith("…"))
    if one.endswith("…") and len(one) > _SHORTEST_TITLE:
        return other.startswith(one[:-1].rstrip())
    return one == other and len(one) > 0


def _same_files(listed: Sequence[Listed], targets: Sequence[int], at: int) -> bool:
    """Whether the files of the targets together are those of the commit; also when they are not known."""
    known = [listed[place].files for place in (*targets, at)]
    if any(files is None for files in known):
        return True
    *before, last = [{file.path for file in files or ()} for files in known]
    return set().union(*before) == last
