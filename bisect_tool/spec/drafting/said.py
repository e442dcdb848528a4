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
from bisect_tool.spec.drafting.clauses import clauses_of
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
    else is said. `only_nightlies` is the line that says that only nightlies fail; `changed` says that it once worked.
    """

    failing: Mention | None = None
    good: list[Mention] = field(default_factory=list)
    bad: list[Mention] = field(default_factory=list)
    named: list[Mention] = field(default_factory=list)
    only_nightlies: int | None = None
    changed: bool = False


class _Owner(Enum):
    """Whose a version is."""

    PACKAGE = auto()
    NOBODY = auto()
    OTHER = auto()


def read_builds(lines: Sequence[tuple[int, str]], package: str) -> Said:
    """What the lines (number, text) say of builds of `package`."""
    names = names_of(package)
    said = Said()
    heading = ""
    for number, line in lines:
        is_fence = re.match(r"\s*(?:```|~~~)", line) is not None
        text = line[:LONGEST_LINE].replace("`", " ").replace("*", " ")
        said.failing = said.failing or _stated(text, number, names) or _under_heading(heading, text, number, names)
        heading = text if text.strip() and not is_fence else heading
        said.changed = said.changed or words.NO_LONGER.search(text) is not None
        if said.only_nightlies is None and words.ONLY_NIGHTLY.search(text):
            said.only_nightlies = number
        if _paired(text, number, names, said) or _compared(text, number, names, said):
            continue
        is_row = text.lstrip().startswith("|")
        for clause in [text] if is_row else clauses_of(text):
            _judge(clause, number, names, said)
    return said


def names_of(package: str) -> tuple[str, ...]:
    """How people call a distribution, in small letters."""
    plain = package.lower()
    more = {"torch": ("pytorch",), "pillow": ("pil",), "scikit-learn": ("sklearn",), "opencv-python": ("cv2", "opencv")}
    return (plain, plain.replace("-", "_"), plain.replace("-", " "), *more.get(plain, ()))


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


def _under_heading(heading: str, text: str, number: int, names: Sequence[str]) -> Mention | None:
    """The first version of a line below a heading such as `NumPy version`: forms ask for it so, without a name."""
    asked = set(re.findall(r"[a-z][\w-]*", heading.lower()))
    match = re.match(rf"\s*v?(?P<version>{words.VERSION})(?:\s+(?P<rest>\S.*))?$", text)
    if match is None or not asked & {"version", "versions"} or len(heading) > 80:
        return None
    if not asked <= {*names, *words.OF_A_FORM}:
        return None
    is_own = bool(asked & set(names)) or not asked & words.OTHERS_OF_A_FORM
    is_alone = match["rest"] is None or bool(re.match(rf"{words.VERSION}\s+sys\.version", match["rest"]))
    return _mention(match["version"], number) if is_own and is_alone else None


def _any_of(names: Sequence[str]) -> str:
    return "|".join(map(re.escape, names))


def _mention(text: str, line: int) -> Mention | None:
    try:
        version = Version(re.sub(r"-(?=cu\d|cpu|rocm)", "+", text))
    except InvalidVersion:
        return None
    return Mention(version, _day(str(version.dev)) if version.is_devrelease else None, text, line)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.replace("/", "-")) if re.fullmatch(words.DAY, text[:10]) else None
    except ValueError:
        return None


def _paired(text: str, number: int, names: Sequence[str], said: Said) -> bool:
    """Whether a line says "from A to B" of an upgrade, or "to B from A"; the older one is the last good one then."""
    match = words.PAIR.search(text) or words.ARROW.search(text) or words.BACKWARDS.search(text)
    changes = words.UPGRADE.search(text) or words.BAD.search(text) or words.SLOWED.search(text)
    if match is None or words.FIXED.search(text) or not changes:
        return False
    older, newer = (_mention(match[key], number) for key in ("a", "b"))
    if _owner(text, match.start("a"), names) is _Owner.OTHER or older is None or newer is None:
        return False
    older, newer = sorted((older, newer), key=lambda one: one.order)
    said.good.append(older)
    said.bad.append(newer)
    return True


def _compared(text: str, number: int, names: Sequence[str], said: Said) -> bool:
    """Whether a line says "B is slower than A", or "B fails compared to A": A is a good one then."""
    match = words.THAN.search(text)
    if match is None or not (words.BAD.search(text) or words.SLOWED.search(text)):
        return False
    good = _mention(match["a"], number)
    if good is None or _owner(text, match.start("a"), names) is _Owner.OTHER:
        return False
    said.good.append(good)
    said.bad += [mention for mention, _ in _mentions(text[: match.start()], number, names)]
    return True


def _judge(clause: str, number: int, names: Sequence[str], said: Said) -> None:
    """Put the versions of one clause to those that work, that fail, or that are only named."""
    mentions = list(_mentions(clause, number, names))
    is_bad = (words.BAD.search(words.NOT_FAILING.sub(" ", clause)) or words.NOT_WORKING.search(clause)) is not None
    is_good = (words.GOOD.search(words.NOT_WORKING.sub(" ", clause)) or words.NOT_FAILING.search(clause)) is not None
    if is_bad and len(mentions) == 2 and (is_good or words.LATTER.search(clause)):
        ordered = not is_good or _says_good_first(clause)
        said.good.append(mentions[0 if ordered else 1][0])
        said.bad.append(mentions[1 if ordered else 0][0])
    elif is_good != is_bad:
        (said.good if is_good else said.bad).extend(mention for mention, _ in mentions)
    elif mentions and words.EARLIER.match(clause.partition(mentions[-1][0].text)[2]):
        said.good.append(mentions[-1][0])  # "in 1.3 and earlier …": of a regression these are the ones without it
    else:
        is_title = number == 0 and words.SINCE.search(clause) is not None
        said.named += [mention for mention, owner in mentions if owner is _Owner.PACKAGE or is_title]


def _says_good_first(clause: str) -> bool:
    good, bad = words.GOOD.search(clause), words.BAD.search(clause)
    return bool(good and bad and good.start() < bad.start())


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
