"""Markdown that calls nobody, closes nothing, and leaves no trace on other pages. Pure.

The formats of a report already write text from outside so (`bisect_tool.reports.formats.markdown`). This goes over the whole
comment once more, whoever wrote which part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ZERO_WIDTH = "\u200b"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_TARGET = re.compile(r"\]\(https?://[^()\s]*\)")
_CALLS = re.compile(r"([@#])(?=\w)|\b(GH)(?=-[0-9])", re.IGNORECASE)
# A link to an issue or a pull request makes GitHub note "mentioned this" there; by this address of its own it does not.
_NOTED = re.compile(r"(\]\(https://)(?:www\.)?(github\.com/[^()\s/]+/[^()\s/]+/(?:pull|issues|discussions)/[0-9]+)")


def defused(markdown: str) -> str:
    """`markdown`, outside of code, without mentions and references; links to issues and pull requests leave no mark there."""
    return "\n".join(_lines(markdown.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        marks = _FENCE.fullmatch(line)
        if fence:
            fence = "" if marks and marks[1].startswith(fence) and not marks[2].strip() else fence
            yield line
        elif marks:
            fence = marks[1]
            yield line
        else:
            yield _line(line)


def _line(line: str) -> str:
    done, at = [], 0
    for code in _CODE.finditer(line):
        done += [_text(line[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*done, _text(line[at:])])


def _text(text: str) -> str:
    done, at = [], 0
    for target in _TARGET.finditer(text):
        done += [_quiet(text[at : target.start()]), _NOTED.sub(r"\1redirect.\2", target[0])]
        at = target.end()
    return "".join([*done, _quiet(text[at:])])


def _quiet(text: str) -> str:
    return _CALLS.sub(lambda match: f"{match[0]}{ZERO_WIDTH}", text)
