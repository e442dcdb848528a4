"""What a badge says of a question, and its drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from bisect_tool.reports.cleaning import clean
from bisect_tool.reports.report import Episode, Failure, Report
from bisect_tool.service.question import Question, QuestionState

GREY, BLUE, GREEN, ORANGE, RED = "#57606a", "#0969da", "#1a7f37", "#9a6700", "#cf222e"
_WIDTH = 6.6  # of a letter, on average
_GAP = 12  # pixels around a text
_MOST = 60  # letters of a text


@dataclass(frozen=True, slots=True)
class Badge:
    """Two texts, the second on a colour."""

    label: str
    message: str
    colour: str


def badge_of(question: Question, report: Mapping[str, Any] | None) -> Badge:
    """The badge of a question with its report, if it has one."""
    label = question.package
    match question.state:
        case QuestionState.QUEUED:
            return Badge(label, "asked", GREY)
        case QuestionState.RUNNING:
            return Badge(label, "bisecting", BLUE)
        case QuestionState.CANCELLED:
            return Badge(label, "cancelled", GREY)
        case QuestionState.FAILED:
            return Badge(label, "no answer", GREY)
        case QuestionState.ANSWERED:
            return _answered(label, report)


def _answered(label: str, stored: Mapping[str, Any] | None) -> Badge:
    report = None if stored is None else Report.model_validate(stored)
    if report is None or report.outcome in {"not judged", "unfinished"}:
        return Badge(label, "could not be judged", GREY)
    open_ones = [
        failure for failure in report.failures if failure.episodes and failure.episodes[-1].fixed.kind == "open"
    ]
    if open_ones:
        return Badge(label, _since(open_ones), RED)
    ended = [failure.episodes[-1] for failure in report.failures if failure.episodes]
    if ended:
        return Badge(label, _until(ended[-1]), GREEN)
    return Badge(label, "no failure", GREEN)


def _since(failures: list[Failure]) -> str:
    begin = failures[0].episodes[-1].appeared
    more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    match begin.kind:
        case "exact":
            return f"fails since {begin.first_with}{more}"
        case "narrowed":
            return f"broke between {begin.last_without} and {begin.first_with}{more}"
        case "open":
            return f"fails{more}"


def _until(episode: Episode) -> str:
    end = episode.fixed
    word = "fixed in" if end.kind == "exact" else "fixed by"
    return f"{word} {end.first_without}"


def draw(badge: Badge) -> str:
    """The badge as SVG. Every text is escaped: names come from strangers."""
    label, message = _shown(badge.label), _shown(badge.message)
    left, right = (round(len(text) * _WIDTH) + _GAP for text in (label, message))
    title = f"{label}: {message}"
    style = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label={quoteattr(title)}>'
        f"<title>{escape(title)}</title>"
        f'<rect rx="3" width="{left + right}" height="20" fill="{badge.colour}"/>'
        f'<path fill="#24292f" d="M3 0h{left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z"/>'
        f"<g {style}>"
        f'<text x="{left / 2:g}" y="14" textLength="{left - _GAP}">{escape(label)}</text>'
        f'<text x="{left + right / 2:g}" y="14" textLength="{right - _GAP}">{escape(message)}</text>'
        "</g></svg>"
    )


def _shown(text: str) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
