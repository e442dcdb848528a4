"""The text of a report, made plain: one kind of line end, no comments of HTML, nothing that does not print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

MOST_CHARACTERS = 300_000  # GitHub takes 65,536
LONGEST_LINE = 2_000  # longer lines are data: no rule looks into them

_COMMENT_START, _COMMENT_END = "<!--", "-->"
_COMMENT = re.compile(r"<!--.*?-->")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_TAG_LINE = re.compile(
    r"^[ \t]*</?(?:details|summary|br|p|div|pre|code|hr|b|i|h\d)\b[^<>]{0,200}>(?:[^<>]{0,80}</\w+>)?[ \t]*$"
)
_UNPRINTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_WIDE_SPACE = re.compile("[\xa0\u2002-\u200a\u202f\u3000]")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<hashed>.+?)|\*\*(?P<bold>[^*]{1,80})\*\*:?)\s*#*\s*$")
_FIRST_TITLE = re.compile(r"^(?:title|subject)\s*:\s*(?P<title>\S.*)$", re.IGNORECASE)
_FORM = re.compile(
    r"^(?:🐛\s*)?(?:describe the bug|bug description|bug report|description|versions?|environment|minimal reproducer|"
    r"reproducer|to reproduce|steps to reproduce|summary|issue|bug)\W*$",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(r"```|~~~|>>>|In \[|import |from \S+ import |#+\s*🐛|Traceback|\W*$")
_FRAME = re.compile(
    r"^pytorch - .{0,20}\(how to fix\)\s*(?:fix\s+)?|\s*\[\d+ (?:participants?|comments?)[^\]]{0,40}\]\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Report:
    """A report. `lines` are without line ends; `name` is what its folder is called; `opened` the day it was filed, if known.

    `repository` is `owner/name` for an issue. `is_script`: the source is a Python file, not prose.
    """

    title: str
    lines: tuple[str, ...]
    name: str
    address: str | None = None
    opened: date | None = None
    repository: str | None = None
    is_script: bool = False
    code: str | None = None  # of a script: as it stands in its file

    @property
    def text(self) -> str:
        """The lines again as one text."""
        return "\n".join(self.lines)


def read_report(
    text: str,
    *,
    title: str = "",
    name: str = "",
    address: str | None = None,
    opened: date | None = None,
    repository: str | None = None,
    is_script: bool = False,
) -> Report:
    """The report of a text as it was written; `title` and `name` are made of the text when they are not given."""
    plain = plain_text(text)
    code = text.replace("\r\n", "\n").replace("\r", "\n") if is_script else None
    lines = tuple((plain if is_script else _without_tags(plain)).split("\n"))
    title = one_line(title) or ("" if is_script else _title_in(lines))
    return Report(title, lines, slug(name) or slug(title) or "report", address, opened, repository, is_script, code)


def plain_text(text: str) -> str:
    """One kind of line end, no colours, nothing that does not print. Lines keep their numbers."""
    text = _ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _WIDE_SPACE.sub(" ", _UNPRINTED.sub("", text))


def one_line(text: str) -> str:
    """The text on one line, at most 200 characters of it."""
    line = " ".join(plain_text(text).split())
    return line if len(line) <= 200 else line[:199] + "…"


def slug(text: str) -> str:
    """A name for a folder and a spec: letters, digits and `-`, at most 60 characters; empty when nothing is left."""
    words = re.findall(r"[A-Za-z0-9]+", text[:1000])
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer) > 60:
            break
        name = longer
    return (name or (words[0][:60] if words else "")).lower() if words else ""


def heading_of(line: str) -> str | None:
    """The words of a heading of Markdown."""
    match = _HEADING.match(line[:300])
    return (match["hashed"] or match["bold"]).strip() if match else None


def is_form(line: str) -> bool:
    """Whether a line is one of the headings that the forms of bug trackers have."""
    return _FORM.match((heading_of(line) or line).strip()[:100]) is not None


def _title_in(lines: tuple[str, ...]) -> str:
    """The title: a line `Title: …`, else the first line that says something, cut after its first sentence."""
    introduction, fence = "", False
    for line in lines[:80]:
        text = line.strip(" \t>")[:LONGEST_LINE]
        if match := _FIRST_TITLE.match(text):
            return one_line(match["title"])
        if text.startswith(("```", "~~~")):
            fence = not fence
        if not text or fence or is_form(text) or _NO_TITLE.match(text):
            continue
        said = _FRAME.sub("", heading_of(text) or text).strip()
        if said.endswith(":") and len(said) < 40:
            introduction = introduction or said
            continue
        return one_line(re.split(r"(?<=[.!?])\s+(?=[A-Z])", said, maxsplit=1)[0].rstrip("."))
    return one_line(introduction)


def _without_tags(text: str) -> str:
    """Comments and lines that are only a tag of HTML become blank lines, so that lines keep their numbers.

    What stands between fences is code and stays as it is; fences inside a comment are part of the comment.
    """
    kept: list[str] = []
    fence, is_comment = "", False
    for line in text.split("\n"):
        marks = _FENCE.match(line[:LONGEST_LINE])
        if is_comment:
            is_comment = _COMMENT_END not in line
            kept.append(line.partition(_COMMENT_END)[2])
        elif fence:
            fence = "" if marks and marks[1].startswith(fence) and not line.strip(" \t>").strip(fence[0]) else fence
            kept.append(line)
        elif marks:
            fence = marks[1]
            kept.append(line)
        else:
            bare = _COMMENT.sub("", line)
            is_comment = _COMMENT_START in bare
            kept.append("" if _TAG_LINE.match(bare[:LONGEST_LINE]) else bare.partition(_COMMENT_START)[0])
    return "\n".join(kept)
