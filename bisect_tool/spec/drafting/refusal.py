"""Why there is no draft, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bisect_tool.errors import SpecError
from bisect_tool.spec.drafting.code import Chosen
from bisect_tool.spec.drafting.report import LONGEST_LINE, Report

_ELSEWHERE = re.compile(
    r"https?://(?:gist\.github\.com|colab\.research\.google\.com|pastebin\.com|(?:www\.)?kaggle\.com|"
    r"github\.com/[\w.-]+/[\w.-]+/blob/\S+\.(?:py|ipynb)\b)[^\s)>\]\"']*",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(|<img\b", re.IGNORECASE)


def refused(report: Report, chosen: Chosen) -> SpecError:
    """The error for a report that has no code that can be run."""
    looked = [f"  line {line}: {why}" for line, why in chosen.others[:10]]
    if report.is_script:
        return SpecError("\n".join(["the script cannot be used", *looked]), advice="correct the script")
    advice = (
        "put a complete script that fails into the report, between ``` fences, or give the script itself: "
        "`bisect init repro.py`"
    )
    lines = [*looked, *_out_of_reach(report)]
    return SpecError("\n".join(["no code in this report can be run as a script", *lines]), advice=advice)


def too_deep() -> SpecError:
    """The error for code that Python takes and whose expressions are nested deeper than the rules can follow."""
    return SpecError(
        "an expression of the code is nested too deep: hundreds of calls, attributes or operators in one",
        advice="give parts of the expression names of their own, or write the spec by hand (docs/spec.md)",
    )


def _out_of_reach(report: Report) -> Iterator[str]:
    """What may have the code and is not read: links, and pictures."""
    for number, line in enumerate(report.lines, start=1):
        match = _ELSEWHERE.search(line[:LONGEST_LINE])
        if match and not (report.repository and f"/{report.repository}/blob/".lower() in match[0].lower()):
            yield f"  line {number}: a link, which is not followed: save what it leads to ({match[0][:100]})"
            break
    picture = next((n for n, line in enumerate(report.lines, start=1) if _PICTURE.search(line[:LONGEST_LINE])), None)
    if picture:
        yield f"  line {picture}: a picture, which is not read: type the code of it"
