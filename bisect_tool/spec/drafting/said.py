"""What a report says of builds: where it fails, where it works, since when. Versions belong to the word before them.

A clause is a part of a sentence. A version in a clause with a word such as "works" is one that works, with "fails" one that
fails; "from A to B" and "A → B" are the last good and the first bad one. A version after the name of another product
(`CUDA 12.6`, `Python 3.11`) is not one of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, auto

from packaging.version import InvalidVersion, Version

from bisect_tool.spec.drafting import version_words as words
from bisect_tool.spec.drafting.report import LONGEST_LINE


@dataclass(frozen=True, slots=True)
class Mention:
    """A build that the text names: its version, or for a nightly that is named by its day alone, the day."""

    version: Version | None
    day: date | None
    text: str
    line: int

    @property
    def is_nightly(self) -> bool:
        """Whether it is a dated build."""
        return self.day is not None

    @property
    def order(self) -> tuple[Version, date]:
        """For comparing two of one kind."""
        return (self.version or Version("0"), self.day or date.min)


@dataclass(slots=True)
class Said:
    """What the text says of builds, in the order of the text.

    `failing` is the one that the reporter used; `named` are versions with the name of the package before them of which nothing
    else is said. `only_nightlies` is the line that says that only nightlies fail.
    """

    failing: Mention | None = None
    good: list[Mention] = field(default_factory=list)
    bad: list[Mention] = field(default_factory=list)
    named: list[Mention] = field(default_factory=list)
    only_nightlies: int | None = None


class _Owner(Enum):
    """Whose a version is."""

    PACKAGE = auto()
    NOBODY = auto()
    OTHER = auto()


def read_builds(lines: Sequence[tuple[int, str]], package: str) -> Said:
    """What the lines (number, text) say of builds of `package`."""
    names = names_of(package)
    said = Said()
    for number, line in lines:
        text = line[:LONGEST_LINE].replace("`", " ").replace("*", " ")
        said.failing = said.failing or _stated(text, number, names)
        if said.only_nightlies is None and words.ONLY_NIGHTLY.search(text):
            said.only_nightlies = number
        if _paired(text, number, names, said):
            continue
        is_row = text.lstrip().startswith("|")
        for clause in [text] if is_row else _clauses(text):
            _judge(clause, number, names, said)
    return said


def _clauses(text: str) -> list[str]:
    """The clauses of a line; one that only lists more versions ("…, 2.6 and 2.7") belongs to the one before it."""
    clauses: list[str] = []
    for clause in words.CLAUSES.split(text):
        only_versions = clause and not re.search(r"[^\W\d_]{2}", words.LISTED.sub(" ", words.VERSIONS.sub(" ", clause)))
        if clauses and only_versions and words.VERSIONS.search(clause):
            clauses[-1] += f", {clause}"
        elif clause:
            clauses.append(clause)
    return clauses


def names_of(package: str) -> tuple[str, ...]:
    """How people call a distribution, in small letters."""
    plain = package.lower()
    more = {"torch": ("pytorch",), "pillow": ("pil",), "scikit-learn": ("sklearn",), "opencv-python": ("cv2", "opencv")}
    return (plain, plain.replace("-", "_"), *more.get(plain, ()))


def _stated(text: str, number: int, names: Sequence[str]) -> Mention | None:
    """A version in a line that is a name and a version and no sentence, as in lists of an environment."""
    match = re.match(
        rf"\W{{0,6}}(?:\[pip3?\]|\[conda\])?\W{{0,3}}(?:{_any_of(names)})(?:[ _]?version)?(?:\s*\(e\.g\.[^)]*\))?"
        rf"\W{{0,6}}\s*(?:is\s+)?v?(?P<version>{words.VERSION})(?P<rest>(?!\w).*)$",
        text,
        re.IGNORECASE,
    )
    if match is None or words.BAD.search(match["rest"]) or words.GOOD.search(match["rest"]):
        return None
    is_list = re.match(r"[\s.,;)\]|*_]*(?:[,;(@].*)?$", match["rest"]) is not None
    return _mention(match["version"], number) if is_list else None


def _any_of(names: Sequence[str]) -> str:
    return "|".join(map(re.escape, names))


def _mention(text: str, line: int) -> Mention | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    return Mention(version, _day(str(version.dev)) if version.is_devrelease else None, text, line)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.replace("/", "-")) if re.fullmatch(words.DAY, text[:10]) else None
    except ValueError:
        return None


def _paired(text: str, number: int, names: Sequence[str], said: Said) -> bool:
    """Whether a line says "from A to B" of an upgrade; A is the last good one then."""
    match = words.PAIR.search(text) or words.ARROW.search(text)
    if match is None or words.FIXED.search(text) or not (words.UPGRADE.search(text) or words.BAD.search(text)):
        return False
    older, newer = (_mention(match[key], number) for key in ("a", "b"))
    if _owner(text, match.start("a"), names) is _Owner.OTHER or older is None or newer is None:
        return False
    said.good.append(older)
    said.bad.append(newer)
    return True


def _judge(clause: str, number: int, names: Sequence[str], said: Said) -> None:
    """Put the versions of one clause to those that work, that fail, or that are only named."""
    mentions = list(_mentions(clause, number, names))
    is_bad = (words.BAD.search(words.NOT_FAILING.sub(" ", clause)) or words.NOT_WORKING.search(clause)) is not None
    is_good = (words.GOOD.search(words.NOT_WORKING.sub(" ", clause)) or words.NOT_FAILING.search(clause)) is not None
    if is_good and is_bad and len(mentions) == 2:
        first_good, first_bad = words.GOOD.search(clause), words.BAD.search(clause)
        ordered = bool(first_good and first_bad and first_good.start() < first_bad.start())
        said.good.append(mentions[0 if ordered else 1][0])
        said.bad.append(mentions[1 if ordered else 0][0])
    elif is_good != is_bad:
        (said.good if is_good else said.bad).extend(mention for mention, _ in mentions)
    else:
        said.named += [mention for mention, owner in mentions if owner is _Owner.PACKAGE]


def _mentions(clause: str, number: int, names: Sequence[str]) -> Iterator[tuple[Mention, _Owner]]:
    for match in words.VERSIONS.finditer(clause):
        owner = _owner(clause, match.start(), names)
        if re.match(rf"\s+of\s+(?:{_any_of(names)})\b", clause[match.end() :], re.IGNORECASE):
            owner = _Owner.PACKAGE
        if owner is not _Owner.OTHER and (found := _mention(match["version"], number)):
            yield found, owner
    if words.NIGHTLY.search(clause):
        for match in words.DAYS.finditer(clause):
            if day := _day(match["day"]):
                yield Mention(None, day, match[0], number), _Owner.NOBODY


def _owner(clause: str, start: int, names: Sequence[str]) -> _Owner:
    """Whose a version is that begins at `start`, by the word before it."""
    before = re.findall(r"[^\W\d][\w+.-]*|\d[\w.+]*", clause[max(0, start - 60) : start].lower())
    for word in reversed(before[-4:]):
        bare = word.strip(".-+_=")
        if bare in names:
            return _Owner.PACKAGE
        if bare in words.BETWEEN or re.match(r"\d", bare):
            continue
        return _Owner.NOBODY if bare in words.NEUTRAL else _Owner.OTHER
    return _Owner.NOBODY
