"""Reading a bug report: a file, the standard input, an issue on GitHub. The only place of drafting that reads anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from bisect_tool.errors import BisectError, HistoryUnavailable, SpecError
from bisect_tool.history.github_session import GitHubSession, Refused
from bisect_tool.spec.drafting.report import MOST_CHARACTERS, Report, read_report, slug

STANDARD_INPUT = "-"
GITHUB = "https://api.github.com"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ISSUE = re.compile(
    rf"(?:https?://)?(?:www\.)?(?P<host>github\.com|[a-z0-9.-]+)/(?P<owner>{_NAME})/(?P<repository>{_NAME})/(?:issues|pull)/(?P<number>\d{{1,9}})"
    r"(?:[/?#]\S*)?"
)
_SHORT = re.compile(rf"(?P<owner>{_NAME})/(?P<repository>{_NAME})#(?P<number>\d{{1,9}})")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_SAVE = "save the text of the report in a file and give that: `bisect init report.md`"


@dataclass(frozen=True, slots=True)
class ReportAccess:
    """How a report may be reached: `api` is another address of GitHub's API, `standard_input` reads what is piped in."""

    token: str | None = field(default=None, repr=False)
    api: str | None = None
    standard_input: Callable[[], bytes] = lambda: b""


def open_report(source: str, access: ReportAccess) -> Report:
    """The report that `source` names: a file, `-`, the address of an issue, or `owner/name#123`.

    Raises:
        SpecError: no such file, no text, too much of it, or an address that is not one of an issue.
        HistoryUnavailable: GitHub does not answer.
    """
    if source == STANDARD_INPUT:
        return read_report(_text(access.standard_input(), "standard input"))
    path = Path(source)
    if _is_file(path):
        return _of_file(path)
    issue = _ISSUE.fullmatch(source) or _SHORT.fullmatch(source)
    if issue is not None:
        return _of_issue(issue, access)
    if _ADDRESS.match(source):
        raise SpecError(f"not the address of an issue on GitHub: {source[:200]}", advice=_SAVE)
    raise SpecError(f"no such file: {source[:200]}", advice="give a file, `-`, or the address of an issue on GitHub")


def _is_file(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _of_file(path: Path) -> Report:
    if not path.is_file():
        raise SpecError("the report is not a regular file", where=str(path), advice="give a text file or a script")
    try:
        if path.stat().st_size > 4 * MOST_CHARACTERS:
            raise _too_long(str(path))
        content = path.read_bytes()
    except OSError as error:
        raise SpecError(
            f"the report cannot be read: {error.strerror}", where=str(path), advice="make it readable"
        ) from error
    text = _text(content, str(path))
    name = (
        path.parent.name if path.stem in {"report", "issue", "repro", "spec"} and slug(path.parent.name) else path.stem
    )
    if path.suffix == ".ipynb":
        return read_report(_code_of_notebook(text), name=name, is_script=True)
    return read_report(text, name=name, is_script=path.suffix == ".py")


def _text(content: bytes, where: str) -> str:
    """The text of bytes: UTF-8, UTF-16 with its mark, else what Windows wrote in western Europe."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", errors="replace")
    elif b"\0" in content:
        raise SpecError("the report is not a text", where=where, advice=_SAVE)
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
    if len(text) > MOST_CHARACTERS:
        raise _too_long(where)
    if not text.strip():
        raise SpecError("the report is empty", where=where, advice=_SAVE)
    return text


def _too_long(where: str) -> SpecError:
    return SpecError(
        f"the report is longer than {MOST_CHARACTERS:,} characters", where=where, advice="cut logs and data out of it"
    )


def _of_issue(issue: re.Match[str], access: ReportAccess) -> Report:
    host = issue.groupdict().get("host") or "github.com"
    repository, number = f"{issue['owner']}/{issue['repository']}", issue["number"]
    api = (access.api or (GITHUB if host == "github.com" else f"https://{host}/api/v3")).rstrip("/")
    where = f"{api}/repos/{repository}/issues/{number}"
    try:
        # An address in a report may name any server: the token is for GitHub's, or for the one that the user named.
        token = access.token if access.api or host == "github.com" else None
        found = GitHubSession(api, token).get(f"/repos/{repository}/issues/{number}", _pick).content
    except Refused as error:
        raise SpecError(
            f"GitHub has no such issue that can be read: {error}",
            where=where,
            advice="look at the number; a private repository needs a token with the right to read it in GITHUB_TOKEN",
        ) from error
    except HistoryUnavailable as error:
        raise _without_clone(error) from error
    if not found["body"].strip():
        raise SpecError("the issue has no text", where=where, advice=_SAVE)
    if len(found["body"]) > MOST_CHARACTERS:
        raise _too_long(where)
    return read_report(
        found["body"],
        title=found["title"],
        name=f"{slug(issue['repository']) or 'issue'}-{number}",
        address=f"https://{host}/{repository}/issues/{number}",
        opened=_day(found["opened"]),
        repository=repository,
    )


def _pick(answer: Any) -> dict[str, str]:
    return {
        "title": str(answer["title"]),
        "body": str(answer.get("body") or ""),
        "opened": str(answer.get("created_at") or ""),
    }


def _day(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None


def _without_clone(error: HistoryUnavailable) -> BisectError:
    """The same fault with advice for an issue: a clone of the repository has none."""
    advice = error.advice.split("; a clone")[0].split(", or give a clone")[0].split(", or a clone")[0]
    return HistoryUnavailable(error.what, where=error.where, advice=f"{advice}; or {_SAVE}")


def _code_of_notebook(text: str) -> str:
    """The code cells of a Jupyter notebook as one script, without its magic commands.

    Raises `SpecError` for what is no notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise SpecError("this is no notebook of Jupyter", advice=_SAVE) from error
    lines = [line for source in sources for line in [*source.split("\n"), ""]]
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!"))) + "\n"
