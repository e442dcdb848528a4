"""What a report says of builds: where it fails, where it works, since when. Versions belong to the word before them.

A clause is a part of a sentence. A version in a clause with a word such as "works" is one that works, with "fails" one that fails;
"from A to B" and "A → B" are the last good and the first bad one. A version after the name of another product (`CUDA 12.6`,
`Python 3.11`) is not one of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from packaging.version import InvalidVersion, Version

from bisect_tool.spec.drafting.report import LONGEST_LINE

_VERSION = r"\d{1,4}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:dev|rc|post|a|b)\d{1,12})?(?:\+[a-z0-9.]{1,20})?"
_VERSIONS = re.compile(
    rf"(?<![\w.+-])(?:v(?=\d))?(?P<version>{_VERSION})(?![\w+-]|\.\d)(?!\s?(?:%|ms\b|GB\b|GiB\b|MB\b|x\b|seconds?\b|s\b|×))",
    re.IGNORECASE,
)
_NIGHTLY = re.compile(
    r"(?<!\d)(?P<year>20[12]\d)[-/.]?(?P<month>0[1-9]|1[0-2])[-/.]?(?P<day>0[1-9]|[12]\d|3[01])(?!\d)"
)
_CLAUSES = re.compile(
    r"(?<=[a-z0-9)])(?:[;!?]|,(?=\s)|\.(?=\s))\s*|\s+(?:but|while|whereas|however|yet|though|although)\s+|\s\|\s|\s+and\s+(?=(?:it\s+)?(?:fails?|breaks?|works?|broken|crashes|is|stopped))",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:work(?:s|ed|ing)?|good|pass(?:es|ed|ing)?|fine|correct(?:ly)?|ok(?:ay)?|unaffected|succeed\w*|no (?:error|issue|problem|crash)|"
    r"not (?:affected|reproduc\w+|happen\w*|present)|does ?n[o']t (?:happen|reproduce|occur|fail|crash)|gone|fixed)\b|✅|✓|✔|👍",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:fail\w*|broke\w*|breaks?|bad|crash\w*|regress\w*|error\w*|wrong|incorrect\w*|hangs?|segfault\w*|slower|slow|leaks?|"
    r"no longer works?|not work\w*|(?:does|did) ?n[o']t work|do(?:es)? not work|stopped working|affected|reproduc(?:es|ed|ible)|"
    r"happens|introduced|appeared|started)\b|❌|✗|✘|👎",
    re.IGNORECASE,
)
_NOT_WORKING = re.compile(
    r"(?:not|n't|n’t|no longer|stopped)\s+(?:\w+\s+)?(?:work\w*|pass\w*|correct\w*|fine|ok)", re.IGNORECASE
)
_NOT_FAILING = re.compile(
    r"(?:not|n't|n’t|no longer|never|without)\s+(?:\w+\s+)?(?:fail\w*|crash\w*|error\w*|broke\w*|reproduc\w*|affected|happen\w*|hang\w*)|no (?:error|crash)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    rf"\b(?:from|between)\s+(?:\w+\s+){{0,2}}v?(?P<a>{_VERSION})\s+(?:to|and|->|→)\s+(?:\w+\s+){{0,2}}v?(?P<b>{_VERSION})",
    re.IGNORECASE,
)
_ARROW = re.compile(rf"v?(?P<a>{_VERSION})\s*(?:->|→|=>)\s*v?(?P<b>{_VERSION})", re.IGNORECASE)
_UPGRADE = re.compile(
    r"\b(?:upgrad\w+|updat\w+|mov\w+|bump\w*|switch\w*|regress\w*|introduced|broke\w*|chang\w+)\b", re.IGNORECASE
)
_ONLY_NIGHTLY = re.compile(
    r"(?:only|just)\s+(?:\w+\s+){0,3}nightl|nightl\w+\s+only|(?:works?|fine|passes|ok|good)\s+(?:\w+\s+){0,3}(?:stable|released?|latest release)",
    re.IGNORECASE,
)
# Words that may stand between the name of the package and its version, or before a version that has no name.
_NEUTRAL = {
    "", "a", "also", "and", "any", "as", "at", "back", "bad", "before", "build", "builds", "both", "by", "current", "did", "even", "first", "for",
    "from", "good", "in", "into", "is", "it", "last", "latest", "least", "main", "newer", "nightly", "nightlies", "of", "older", "on", "only", "or", "release",
    "released", "releases", "since", "stable", "than", "the", "then", "through", "to", "tested", "under", "until", "up", "upgrading", "upgraded", "using", "version",
    "versions", "was", "while", "with", "works", "work", "worked", "working", "fails", "failed", "broke", "broken", "between", "after", "till", "downgrading", "downgraded",
    "introduced", "fixed", "regression", "regressed", "updating", "updated", "v", "ver", "about", "around", "e", "g", "again", "still", "not", "here", "there",
}  # fmt: skip


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


@dataclass(frozen=True, slots=True)
class Said:
    """What the text says of builds. `failing` is the one that the reporter used; the others in the order of the text."""

    failing: Mention | None = None
    good: tuple[Mention, ...] = ()
    bad: tuple[Mention, ...] = ()
    only_nightlies: int | None = None  # the line that says so


def read_builds(lines: Sequence[tuple[int, str]], package: str) -> Said:
    """What the lines (number, text) say of builds of `package`."""
    names = names_of(package)
    good: list[Mention] = []
    bad: list[Mention] = []
    failing: Mention | None = None
    only: int | None = None
    for number, line in lines:
        text = line[:LONGEST_LINE].replace("`", " ").replace("*", " ")
        failing = failing or _stated(text, number, names)
        if only is None and _ONLY_NIGHTLY.search(text):
            only = number
        _sort_in(text, number, names, good, bad)
    return Said(failing, tuple(good), tuple(bad), only)


def names_of(package: str) -> tuple[str, ...]:
    """How people call a distribution, in small letters."""
    plain = package.lower()
    more = {"torch": ("pytorch",), "pillow": ("pil",), "scikit-learn": ("sklearn",), "opencv-python": ("cv2", "opencv")}
    return (plain, plain.replace("-", "_"), *more.get(plain, ()))


def _stated(text: str, number: int, names: Sequence[str]) -> Mention | None:
    """A version in a line that is nothing but a name and a version, as in lists of an environment."""
    match = re.match(
        rf"\W{{0,6}}(?:\[pip3?\]|\[conda\])?\W{{0,3}}(?:{'|'.join(map(re.escape, names))})(?:[ _]?version)?\W{{0,6}}\s*(?:is\s+)?v?(?P<version>{_VERSION})(?![\w])",
        text,
        re.IGNORECASE,
    )
    return _mention(match["version"], number) if match else None


def _mention(text: str, line: int) -> Mention | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    day = _day(str(version.dev)) if version.is_devrelease else None
    return Mention(version, day, text, line)


def _day(text: str) -> date | None:
    match = _NIGHTLY.match(text)
    try:
        return date(int(match["year"]), int(match["month"]), int(match["day"])) if match else None
    except ValueError:
        return None


def _sort_in(text: str, number: int, names: Sequence[str], good: list[Mention], bad: list[Mention]) -> None:
    if match := _PAIR.search(text) or _ARROW.search(text):
        pair = [_mention(match[key], number) for key in ("a", "b")]
        owned = _owner(text, match.start(), names)
        if (
            owned
            and all(pair)
            and (_UPGRADE.search(text) or _BAD.search(text))
            and not re.search(r"\bfixed\b", text, re.IGNORECASE)
        ):
            good += [one for one in pair[:1] if one]
            bad += [one for one in pair[1:] if one]
            return
    for clause in _CLAUSES.split(text):
        mentions = list(_mentions(clause or "", number, names))
        if mentions and clause:
            _judge(clause, mentions, good, bad)


def _judge(clause: str, mentions: list[Mention], good: list[Mention], bad: list[Mention]) -> None:
    """Which of the versions of one clause work."""
    is_bad = (_BAD.search(_NOT_FAILING.sub(" ", clause)) or _NOT_WORKING.search(clause)) is not None
    is_good = (_GOOD.search(_NOT_WORKING.sub(" ", clause)) or _NOT_FAILING.search(clause)) is not None
    if is_good and not is_bad:
        good += mentions
    elif is_bad and not is_good:
        bad += mentions
    elif is_good and is_bad and len(mentions) == 2:
        first_good, first_bad = _GOOD.search(clause), _BAD.search(clause)
        ordered = bool(first_good and first_bad and first_good.start() < first_bad.start())
        good.append(mentions[0 if ordered else 1])
        bad.append(mentions[1 if ordered else 0])


def _mentions(clause: str, number: int, names: Sequence[str]) -> Iterator[Mention]:
    for match in _VERSIONS.finditer(clause):
        if _owner(clause, match.start(), names) and (found := _mention(match["version"], number)):
            yield found
    if re.search(r"nightl|\bdev\b|\bbuild\b|\bmain\b", clause, re.IGNORECASE):
        for match in _NIGHTLY.finditer(clause):
            if not re.search(r"[\w.]$", clause[: match.start()]) and (day := _day(match[0])):
                yield Mention(None, day, match[0], number)
        for match in re.finditer(r"(?<![\w.])dev(?P<day>20\d{6})(?!\d)", clause):
            if day := _day(match["day"]):
                yield Mention(None, day, match[0], number)


def _owner(clause: str, start: int, names: Sequence[str]) -> bool:
    """Whether a version that begins at `start` is one of the package: the word before it is its name, or nobody's."""
    words = re.findall(r"[A-Za-z][\w+.-]*|\d[\w.+]*", clause[max(0, start - 60) : start].lower())
    for word in reversed(words[-5:]):
        bare = word.strip(".-+_")
        if bare in names or bare.removesuffix("==") in names:
            return True
        if re.match(r"\d", bare) or bare in _NEUTRAL:
            continue
        return False
    return True
