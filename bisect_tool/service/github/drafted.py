"""From an issue to a question: the rules of `bisect init`, what the command says instead, and what was guessed. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from bisect_tool.errors import SpecError
from bisect_tool.service.github.command import WORD
from bisect_tool.service.question import Submission
from bisect_tool.spec.drafting.draft import Draft, make_draft
from bisect_tool.spec.drafting.files import SPEC, files_of
from bisect_tool.spec.drafting.finding import Found, How, found
from bisect_tool.spec.drafting.report import MOST_CHARACTERS, Report, read_report, slug
from bisect_tool.spec.drafting.surroundings import REPOSITORIES, WELL_KNOWN

ADVICE = "put a complete script that fails into the first comment of the issue, between ``` fences"
_RULE = "command"  # where a value comes from that the command gives


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft of a question. `notes` say what was guessed and changed; `todo` is what only people can do, empty for most."""

    submission: Submission
    notes: tuple[str, ...]
    todo: tuple[str, ...]


def issue_report(repository: str, issue: Mapping[str, Any]) -> Report:
    """The report in an issue as GitHub's API gives it.

    Raises `SpecError` for one without text.
    """
    body = str(issue.get("body") or "")
    if not body.strip():
        raise SpecError("the issue has no text", advice=ADVICE)
    if len(body) > MOST_CHARACTERS:
        raise SpecError("the issue has too much text", advice=ADVICE)
    return read_report(
        body,
        title=str(issue.get("title") or ""),
        name=f"{slug(repository.partition('/')[2]) or 'issue'}-{issue['number']}",
        address=str(issue["html_url"]),
        opened=_day(str(issue.get("created_at") or "")),
        repository=repository,
    )


def draft_question(report: Report, options: Mapping[str, str]) -> Drafted:
    """The draft of a report, with the options of a command (`bisect_tool.service.github.command`).

    Raises `SpecError` where nothing can be run.
    """
    draft = _commanded(make_draft(report), options)
    files = files_of(draft)
    others = tuple((name, text.encode()) for name, text in files.items() if name != SPEC)
    return Drafted(Submission(files[SPEC], others), tuple(_notes(draft)), (*draft.todo, *_unknown(draft, report)))


def _unknown(draft: Draft, report: Report) -> Iterator[str]:
    """The packages that are not installed for somebody whom nobody knows: whoever wrote the issue could have published them.

    What is searched may be a package that is well known, or the one that the repository is called after.
    """
    own = (report.repository or "").partition("/")[2].lower()
    known = WELL_KNOWN | set(REPOSITORIES.values())
    for name in (draft.package.value, *draft.requires.value):
        if name.lower() not in known and not (name == draft.package.value and name.lower() == own):
            yield f"the code imports `{name}`, a package that is not installed for a comment: leave it out, or submit a spec"


def _commanded(draft: Draft, options: Mapping[str, str]) -> Draft:
    """The draft with what the command says instead."""
    span = draft.span
    for key, value in options.items():
        said = found(value, _RULE, f"`{WORD}` says so")
        match key:
            case "from":
                span = replace(span, first=_optional(said))
            case "to":
                span = replace(span, last=_optional(said))
            case "channel":
                span = replace(span, channel=said)
            case "device":
                draft = replace(draft, devices=found(tuple(value.split(",")), _RULE, said.why))
            case "python":
                draft = replace(draft, python=_optional(said))
            case _:
                raise AssertionError(key)
    return replace(draft, span=span)


def _optional(said: Found[str]) -> Found[str | None]:
    return found(said.value, said.rule, said.why)


def _notes(draft: Draft) -> Iterator[str]:
    """What is not simply written in the report, one sentence each; the words of the report stay out of them where they can."""
    yield f"code: {draft.source.value}, {draft.source.told}"
    fields: tuple[tuple[str, Found[Any]], ...] = (
        ("failure", draft.kind),
        ("package", draft.package),
        ("channel", draft.span.channel),
        ("from", draft.span.first),
        ("to", draft.span.last),
        ("device", draft.devices),
        ("python", draft.python),
        ("requires", draft.requires),
        ("env", draft.variables),
        ("timeout", draft.timeout),
    )
    for name, one in fields:
        if one.how is not How.DEFAULT:
            yield f"{name}: {_shown(one.value)}, {one.told}"
    for case in draft.cases:
        if case.how is not How.DEFAULT:
            yield f"case {case.value.name}{' (must pass)' if case.value.is_control else ''}: {case.told}"
    for failure in draft.failures:
        yield f"named failure {failure.value[0]}: {failure.told}"
    for reason in draft.reasons:
        yield f"changed in the code: {reason.why}"
    if draft.span.advice:
        yield f"later: {draft.span.advice}"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key}={one}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _day(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
