"""One self-contained HTML page: no script, no resource from elsewhere, light and dark, paper and phone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bisect_tool.reports import answer, chances_picture, every_build, numbers, sentences, timeline
from bisect_tool.reports.cleaning import clean
from bisect_tool.reports.diagnosis_lines import show_diagnoses
from bisect_tool.reports.picture import draw, failure_class
from bisect_tool.reports.rates import lines_of
from bisect_tool.reports.report import Report
from bisect_tool.reports.time_line import where_time_went

SUFFIX = ".html"
MOST_BUILDS = 12
MOST_COMMITS = 1000
# In JSON: an escape other than of a newline, a tab, a quote or a backslash, and what JSON does not escape of `cleaning`.
_ESCAPES = ("\\u", "\\r", "\\b", "\\f", "\x7f")
_CONTROLS = re.compile("[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def render(report: Report) -> str:
    """The report as an HTML page."""
    shown = _cleaned(report)
    page: str = (
        _pages()
        .get_template("report.html.jinja")
        .render(
            link=shown.spec.issue if re.match(r"https?://", shown.spec.issue or "") else None,
            log_of=lambda _case, _build, log: log_address(log, shown.cache),
            **body_values(shown),
        )
    )
    return page


def body_values(report: Report) -> dict[str, Any]:
    """What `report_body.html.jinja` shows of a report, but for `log_of(case, build, log)`: the address of a trial's log."""
    findings = answer.findings(report)
    letters, names = timeline.letters(report), timeline.names(report)
    return {
        "report": report,
        "summary": answer.summary(report),
        "findings": findings,
        "diagnoses": show_diagnoses(report),
        "tables": numbers.tables(report),
        "headings": numbers.HEADINGS,
        "every_build": lambda case, log_of: every_build.rows(case, names, log_of),
        "classes": {finding.failure.id: failure_class(letters, finding.failure.id) for finding in findings},
        # The pictures escape their own texts.
        "picture": Markup(draw(report)),  # noqa: S704
        "chances": lambda study: Markup(chances_picture.draw(study)),  # noqa: S704
        "rate_lines": lines_of,
        "most_commits": MOST_COMMITS,
        "elapsed": sentences.duration(report.elapsed_s),
        "time_line": where_time_went(report.time) if report.time is not None else "",
    }


@cache
def _pages() -> Environment:
    """The templates, read once: a batch writes hundreds of pages."""
    pages = Environment(
        loader=PackageLoader("bisect_tool.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    pages.filters["listed"] = listed
    return pages


def listed(builds: Sequence[str]) -> str:
    """The first builds of many, and how many more."""
    return sentences.listed(builds, MOST_BUILDS)


def log_address(log: str, cache: str) -> str:
    """The address of a log: a file of the cache, where the report says which, or where logs are shared."""
    if re.match(r"^[a-z][a-z0-9+.-]*://", log):
        return quote(log, safe="/:?&=%#@+,;~")
    path = PurePosixPath(cache) / log if cache else PurePosixPath(log)
    return f"file://{quote(str(path))}" if path.is_absolute() else quote(str(path))


def _cleaned(report: Report) -> Report:
    """The report without control characters in any of its texts; most have none, as the texts are cleaned on the way in."""
    with suppress(ValueError):  # a lone surrogate is no JSON
        text = report.model_dump_json()
        if not any(one in text for one in _ESCAPES) and (text.isascii() or not _CONTROLS.search(text)):
            return report
    return Report.model_validate(_clean_values(report.model_dump()))


def _clean_values(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _clean_values(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_clean_values(one) for one in value)
    return value
