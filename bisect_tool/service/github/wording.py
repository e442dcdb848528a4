"""What is said on an issue: the answer of a report, or why there is none. Pure; nothing of it calls anybody."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.errors import BisectError
from bisect_tool.reports.answer import summary
from bisect_tool.reports.cleaning import clean, shorten
from bisect_tool.reports.formats.markdown import escape, fenced
from bisect_tool.reports.report import Appeared, Failure, Fixed, Report
from bisect_tool.service.github.command import WORD
from bisect_tool.service.github.fitting import fitted
from bisect_tool.service.github.harmless import defused

MOST_NOTES = 40
MOST_BYTES = 65_000  # GitHub takes 65,536 characters, and the mark comes on top
_FOLDERS = re.compile(r'File "/[^"\n]*?/((?:site-packages/[^"\n]*|[^"/\n]+)(?="))')
_USAGE = (
    f"{WORD}",
    f"{WORD} --from 2.12 --to 2.15",
    f"{WORD} --channel nightly --from 2026-03-01 --to 2026-05-20",
    f"{WORD} device=cpu python=3.11",
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a comment says besides the answer.

    `page` is where all of it can be seen. `asked` is the address of the comment that asked, `notes` what the draft of its spec
    guessed; without them the question came from elsewhere. `changed`: an earlier comment said something else.
    """

    page: str
    asked: str | None = None
    notes: tuple[str, ...] = ()
    is_changed: bool = False


def why_not_told(report: Report) -> str | None:
    """Why the report is nothing to tell people who did not ask; None for a verified answer."""
    if report.outcome not in {"exact", "narrowed"}:
        return f"the outcome is `{report.outcome}`"
    ends = _ends(report)
    if not ends:
        return "no change was found"
    if any(not end.verified for end in ends):
        return "an end of a failure was not run again in fresh trials"
    return None


def gist_of(report: Report) -> str:
    """The digest of what the report answers, without what differs from run to run: times, counts, machines."""
    ends = [
        # An open failure is in one more build with every nightly, which is no news.
        [failure.name, failure.case, end.kind, *(() if isinstance(end, Fixed) and end.kind == "open" else _builds(end))]
        for failure in report.failures
        for episode in failure.episodes
        for end in (episode.appeared, episode.fixed)
    ]
    said = json.dumps([report.outcome, ends], ensure_ascii=True)
    return hashlib.sha256(said.encode()).hexdigest()


def answer_comment(report: Report, around: Circumstances) -> str:
    """The answer of a report."""
    # How to repeat it names files of ours; the page has them for everybody.
    told = _without_folders(report).model_copy(update={"repeat": f"bisect run {report.spec.name}/spec.yaml"})
    before = ["*The answer has changed since this comment was first written.*\n"] if around.is_changed else []
    left_out = f"Something was left out to fit into a comment; [the page of the question]({around.page}) has all of it."
    after = [*_of_draft(around.notes), "---", _footer(around)]
    rest = defused("\n".join([*before, left_out, *after]))
    text, is_short = fitted(told, MOST_BYTES - len(rest.encode("utf-8", "replace")))
    return defused("\n".join([*before, text.rstrip(), "", *([left_out, ""] if is_short else []), *after]))


def no_answer(report: Report, around: Circumstances) -> str:
    """For whoever asked: the search has ended, and there is nothing to be sure of."""
    reason = {
        "no change": "Every build that could be tested behaves the same:",
        "not judged": "Too few builds could be tested to say anything:",
        "unfinished": "The search stopped before its end, so that nothing is certain yet.",
    }.get(report.outcome, f"There is an answer, but not one to rely on: {why_not_told(report)}.")
    said = (
        []
        if report.outcome == "unfinished" or reason.startswith("There")
        else [f"- {escape(one)}" for one in summary(report)]
    )
    lines = [reason, "", *said[:20], "", *_of_draft(around.notes), "---", _footer(around)]
    return defused("\n".join(lines))


def failed(error: str, advice: str, around: Circumstances) -> str:
    """For whoever asked: the search could not be done."""
    lines = ["The search could not be done:", "", *fenced(_short(error)), ""]
    lines += [f"What to do next: {escape(advice)}", ""] if advice else []
    return defused("\n".join([*lines, *_of_draft(around.notes), "---", _footer(around)]))


def not_understood(mistakes: Sequence[str]) -> str:
    """For whoever gave a command with mistakes."""
    lines = [f"I did not understand this `{WORD}`:", "", *(f"- {one}" for one in mistakes[:20]), "", *_usage()]
    return defused("\n".join(lines))


def not_drafted(error: BisectError, advice: str | None = None) -> str:
    """For whoever asked: no spec could be made of the issue."""
    lines = ["I could not make a question of this issue:", "", *fenced(_short(error.what)), ""]
    lines += [f"What to do next: {escape(advice or error.advice)}", "", *_again()]
    return defused("\n".join(lines))


def incomplete(todo: Sequence[str]) -> str:
    """For whoever asked: the draft has gaps that only people can close."""
    lines = [
        "Something is missing in this issue before I can search:",
        "",
        *(f"- {escape(one)}" for one in todo[:20]),
        "",
    ]
    return defused("\n".join([*lines, *_again()]))


def help_text() -> str:
    """How to ask."""
    return defused("\n".join(_usage()))


def defect() -> str:
    """For whoever asked: we have a defect."""
    return "I stumbled over this issue: that is a defect of mine, and whoever runs this service finds it in the log."


def on_pull_request() -> str:
    """For whoever asked on a pull request."""
    return f"`{WORD}` works on issues: it reads the report of a failure, and a pull request is none."


def _usage() -> list[str]:
    return [
        "A comment with one of these lines makes me search for the builds between which the failure of this issue appeared"
        " or was fixed:", "", *fenced(_USAGE), "",
        "`from` and `to` are versions or dates; `channel` is `release` or `nightly`; `device` is `cpu` or `cuda`.",
    ]  # fmt: skip


def _again() -> list[str]:
    return [f"Edit the issue, then write `{WORD}` in a new comment: edited comments are not read."]


def _of_draft(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    shown = [f"- {escape(note)}" for note in notes[:MOST_NOTES]]
    heading = f"<details><summary>What the draft of the spec made of this issue ({len(notes)})</summary>"
    return [heading, "", *shown, "", "</details>", ""]


def _footer(around: Circumstances) -> str:
    asked = f" for [this comment]({around.asked})" if around.asked else ""
    return (
        f"Found by [bisect]({around.page}){asked}, a program: read the evidence before you rely on it."
        " I edit this comment when the answer changes, unless somebody else has edited it."
    )


def _without_folders(report: Report) -> Report:
    """The report without the folders of our machines, which say nothing to others and may tell names."""

    def short(failure: Failure) -> Failure:
        text = _FOLDERS.sub(r'File "\1', failure.signature.text)
        return failure.model_copy(update={"signature": failure.signature.model_copy(update={"text": text})})

    return report.model_copy(update={"failures": tuple(short(failure) for failure in report.failures)})


def _short(text: str) -> tuple[str, ...]:
    return shorten(clean(text), 20, 200) or ("no reason is known",)


def _ends(report: Report) -> list[Appeared | Fixed]:
    """The ends of all episodes that lie inside the range."""
    ends = [end for one in report.failures for episode in one.episodes for end in (episode.appeared, episode.fixed)]
    return [end for end in ends if end.kind != "open"]


def _builds(end: Appeared | Fixed) -> tuple[str | None, str | None]:
    return (end.last_without, end.first_with) if isinstance(end, Appeared) else (end.last_with, end.first_without)
