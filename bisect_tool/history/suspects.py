"""Which commits of a range are worth looking at first, and why. Pure.

Points are added up; their sizes are in `WEIGHTS`, each explained, and measured in `tests/benchmarks/suspects` (what that can
and cannot show is in `docs/history.md`). A rank is a hint where to look, never a verdict.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bisect_tool.history.clues import Clues, Sought
from bisect_tool.history.folding import Listed
from bisect_tool.history.messages import Nature
from bisect_tool.history.parts import Part, parts_of
from bisect_tool.history.words import words_of, words_of_paths


@dataclass(frozen=True, slots=True)
class Weights:
    """The points for each kind of clue."""

    innermost: float = 10.0  # touches the file where the failure came up
    outward: float = 0.8  # … each frame further out counts this much of the one inside it
    named_file: float = 8.0  # touches a file that the compiler bisector or a person named
    named_folder: float = 1.5  # touches something in a folder that was named: the compiler, when eager is right
    same_folder: float = 1.5  # touches a neighbour of the innermost file
    title_word: float = (
        3.0  # its title has a word of the failure; each of these times how rare the word is in the range
    )
    path_word: float = 2.0  # a file or folder that it touches is called so
    body_word: float = 1.0  # its description has the word: long descriptions have many
    message: float = 1.0  # a word counts this much when it comes from the failure's text
    repro: float = 0.8  # … from the script, which has more words that have nothing to do with it
    key: float = 1.5  # … from a configuration key: few, and named on purpose
    bisected: float = (
        2.0  # … from the name of the pass that the compiler bisector found: it is where the failure is made
    )
    most_words: int = 8  # only the best ones count, so that a long script does not drown everything else
    pin: float = 6.0  # moves a dependency whose version differs between the two environments
    revert_for_fix: float = 4.0  # takes back something from before the range, when a fix is looked for
    reland_for_break: float = 3.0  # brings again what had been taken back, when a break is looked for
    issue: float = 12.0  # names the report, when a fix is looked for, or is the pull request that the spec names
    fix_for_fix: float = 1.0  # calls itself a fix, when a fix is looked for
    only_inert: float = 0.1  # times this: touches only tests, documentation or CI
    in_base: float = 0.3  # times this: the older build has it too, as a cherry-pick
    many_files: float = 10.0  # from this many files on, a match of one file says less


WEIGHTS = Weights()
_FIX_WORDS = ("fix", "bug", "repair", "correct", "handle", "prevent")
_LONG_BODY = 150
# Binaries also change with what they are built with.
_MAKERS = {Part.NATIVE: frozenset({Part.NATIVE, Part.PIN})}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a commit is suspected: a sentence without a subject, and its points."""

    text: str
    points: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """A commit with points, and its reasons, strongest first. `doubts` are what speaks against it."""

    entry: Listed
    points: float
    reasons: tuple[Reason, ...]
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """`suspects` are all commits with points, most first; `ruled_out` cannot be it, each with the reason."""

    suspects: tuple[Suspect, ...]
    ruled_out: tuple[tuple[Listed, str], ...] = ()


def rank(listed: Sequence[Listed], clues: Clues, weights: Weights = WEIGHTS) -> Ranking:
    """The suspects among the commits of a range. Those that cancel out, and merges of what is listed anyway, are left out."""
    asked, ruled_out = asked_among(listed, clues)
    rarity = Rarity.among([*asked, *(entry for entry, _ in ruled_out)])
    judged = [_judge(entry, clues, rarity, weights) for entry in asked]
    found = sorted((suspect for suspect in judged if suspect.points > 0), key=lambda suspect: -suspect.points)
    return Ranking(tuple(found), ruled_out)


def asked_among(listed: Sequence[Listed], clues: Clues) -> tuple[tuple[Listed, ...], tuple[tuple[Listed, str], ...]]:
    """The commits of a range that may be the culprit, and those that cannot be it, each with the reason."""
    inside = {entry.sha for entry in listed}
    standing = [e for e in listed if e.stands and not (e.commit.is_merge and inside & set(e.commit.parents[1:]))]
    ruled_out = tuple((entry, why) for entry in standing if (why := _impossible(entry, clues)))
    out = {entry.sha for entry, _ in ruled_out}
    return tuple(_with_words_of_first(entry, listed) for entry in standing if entry.sha not in out), ruled_out


def _with_words_of_first(entry: Listed, listed: Sequence[Listed]) -> Listed:
    """A reland may say no more than a hash: what it brings again has the words."""
    first = next((one for one in listed if one.sha == entry.brings_again), None) if entry.brings_again else None
    if first is None or first.told.title == entry.told.title:
        return entry
    return replace(entry, told=replace(entry.told, title=f"{entry.told.title} ({first.told.title})"))


def _impossible(entry: Listed, clues: Clues) -> str | None:
    """What the cross tests exclude; a commit whose files are not known is never excluded."""
    if clues.part is None or entry.files is None:
        return None
    parts = parts_of(entry.files)
    makes = _MAKERS.get(clues.part, frozenset({clues.part}))
    return None if makes & parts else f"the change is in {clues.part}, and it touches none of that"


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many commits of the range each word and each file occurs."""

    size: int
    words: Counter[str]
    files: Counter[str]

    @classmethod
    def among(cls, entries: Sequence[Listed]) -> Rarity:
        """Count them."""
        words = Counter(word for entry in entries for word in _words(entry))
        files = Counter(file.path for entry in entries for file in entry.files or ())
        return cls(len(entries), words, files)

    def of_word(self, word: str) -> float:
        """About 1 for a word that one commit in fifty has, near 0 for one that all have."""
        return _rare(self.size, self.words[word])

    def log_of_word(self, word: str) -> float:
        """How rare a word is, in nats: the logarithm of all commits for each that has it."""
        return math.log((self.size + 1) / (self.words[word] + 0.5))

    def of_file(self, path: str) -> float:
        """The same for a file that a commit touches."""
        return _rare(self.size, self.files[path])


def _rare(size: int, count: int) -> float:
    return max(0.05, math.log((size + 1) / (count + 0.5)) / math.log(max(size, 10) + 1))


def _words(entry: Listed) -> frozenset[str]:
    paths = (file.path for file in entry.files or ())
    return words_of(entry.commit.title) | words_of(entry.commit.body) | words_of_paths(paths)


def _judge(entry: Listed, clues: Clues, rarity: Rarity, weights: Weights) -> Suspect:
    reasons = [
        *_by_files(entry, clues, rarity, weights),
        *_by_words(entry, clues, rarity, weights),
        *_by_pins(entry, clues, weights),
        *_by_nature(entry, clues, weights),
        *_by_issue(entry, clues, weights),
    ]
    points = sum(reason.points for reason in reasons)
    doubts = []
    if entry.files and parts_of(entry.files) == {Part.INERT}:
        points *= weights.only_inert
        doubts.append("touches only tests, documentation or CI")
    if entry.is_in_base:
        points *= weights.in_base
        doubts.append("the older build has it too, as a cherry-pick")
    return Suspect(entry, points, tuple(sorted(reasons, key=lambda reason: -reason.points)), tuple(doubts))


def reasons_but_words(entry: Listed, clues: Clues, rarity: Rarity, weights: Weights) -> Iterator[Reason]:
    """What points to a commit apart from words: places, pins, what it takes back, the number of the report."""
    yield from _by_files(entry, clues, rarity, weights)
    yield from _by_pins(entry, clues, weights)
    yield from _by_nature(entry, clues, weights)
    yield from _by_issue(entry, clues, weights)


def _by_files(entry: Listed, clues: Clues, rarity: Rarity, weights: Weights) -> Iterator[Reason]:
    paths = [file.path for file in entry.files or ()]
    spread = 1 / (1 + max(0.0, math.log10(max(1, len(paths)) / weights.many_files)))
    points = dict(_points_of_frames(clues, weights))
    hits = [(points[f] * rarity.of_file(p) * spread, f, p) for p in paths for f in points if _is_file(p, f)]
    for number, (score, frame, _) in enumerate(sorted(hits, reverse=True)[:3]):
        where = "the failure came up" if frame == next(iter(points)) else "the traceback passes"
        yield Reason(f"touches {frame}, where {where}", score if number == 0 else score / 3)
    for named in clues.files:
        if found := next((path for path in paths if _is_file(path, named)), None):
            yield Reason(f"touches {named}, which was named", weights.named_file * rarity.of_file(found) * spread)
    folders = tuple(named for named in clues.files if named.endswith("/"))
    if found := next((path for path in paths if path.startswith(folders)), None):
        yield Reason(f"touches {found}, in a folder that was named", weights.named_folder * spread)
    if not hits and points:
        folder = next(iter(points)).rsplit("/", 1)[0]
        if "/" in folder and any(f"/{path}".rsplit("/", 1)[0].endswith(f"/{folder}") for path in paths):
            yield Reason(f"touches a neighbour of the failing file in {folder}/", weights.same_folder * spread)


def _points_of_frames(clues: Clues, weights: Weights) -> Iterator[tuple[str, float]]:
    """(file, points) of the traceback, the innermost first; a file counts where it is nearest to the exception."""
    points = weights.innermost
    for file in dict.fromkeys(frame.file for frame in reversed(clues.frames)):
        yield file, points
        points *= weights.outward


def _is_file(path: str, named: str) -> bool:
    """Whether a path of the repository is that file of the package: `src/toy/a.py` is `toy/a.py`."""
    return path == named or path.endswith(f"/{named}")


def _by_words(entry: Listed, clues: Clues, rarity: Rarity, weights: Weights) -> Iterator[Reason]:
    origins = (
        (clues.passes, weights.bisected, "the pass that the compiler bisector names"),
        (clues.keys, weights.key, "the configuration key"),
        (clues.message, weights.message, "the failure"),
        (
            frozenset(w for frame in clues.frames[-2:] for w in words_of(frame.function)),
            weights.message,
            "the traceback",
        ),
        (clues.repro, weights.repro, "the repro"),
    )
    found: dict[str, Reason] = {}
    for place, words, worth in _places(entry, weights):
        for asked, trust, origin in origins:
            for word in sorted(words & asked):
                points = worth * trust * rarity.of_word(word) ** 2
                if word not in found or found[word].points < points:
                    found[word] = Reason(f"{place} {word}, as {origin} does", points)
    yield from sorted(found.values(), key=lambda reason: -reason.points)[: weights.most_words]


def _places(entry: Listed, weights: Weights) -> Iterable[tuple[str, frozenset[str], float]]:
    """(how to say it, words, points of a word) for each place where a commit has words."""
    paths = [file.path for file in entry.files or ()]
    body = words_of(entry.commit.body)
    many = 1 + max(0.0, math.log2(max(1, len(paths)) / weights.many_files))
    return (
        ("its title names", words_of(entry.told.title), weights.title_word),
        ("touches files called", words_of_paths(paths), weights.path_word / many),
        ("its description names", body, weights.body_word / (1 + len(body) / _LONG_BODY)),
    )


def _by_pins(entry: Listed, clues: Clues, weights: Weights) -> Iterator[Reason]:
    title = words_of(entry.commit.title) | set(entry.commit.title.lower().split())
    parts = parts_of(entry.files or ())
    for pin in sorted(clues.pins):
        name = pin.removeprefix("pytorch-")
        moves_triton = name == "triton" and Part.TRITON in parts
        moves_other = bool({name, *name.split("-")} & title) and bool(parts & {Part.PIN, Part.NATIVE, Part.TRITON})
        if moves_triton or moves_other:
            yield Reason(f"moves {pin}, whose version differs between the two builds", weights.pin)


def _by_nature(entry: Listed, clues: Clues, weights: Weights) -> Iterator[Reason]:
    nature, title = entry.nature, entry.told.title.lower()
    if clues.sought is Sought.FIX:
        if nature is Nature.REVERT:
            yield Reason("takes something back, which may be what broke it", weights.revert_for_fix)
        elif any(word in title for word in _FIX_WORDS):
            yield Reason("calls itself a fix", weights.fix_for_fix)
    elif nature is Nature.RELAND:
        yield Reason("brings again what had been taken back once", weights.reland_for_break)


def _by_issue(entry: Listed, clues: Clues, weights: Weights) -> Iterator[Reason]:
    """A repair names the report that it is about; what broke it was written before that, but may be what the spec names."""
    if clues.issue is None:
        return
    if entry.told.pull == clues.issue:
        yield Reason(f"is #{clues.issue}, which the spec names", weights.issue)
    elif clues.sought is Sought.FIX and _names_issue(f"{entry.commit.title}\n{entry.commit.body}", clues.issue):
        yield Reason(f"names #{clues.issue}, the report", weights.issue)


def _names_issue(text: str, number: int) -> bool:
    return re.search(rf"(?:(?<![\w/])#|/issues/|/pull/){number}(?!\d)", text) is not None
