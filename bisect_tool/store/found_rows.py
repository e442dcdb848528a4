"""What the index keeps of a report: a row for each of its failures, and one without a failure where it has none. Pure.

Rows hold nothing but what the report says. The identity is that of `bisect_tool.trials.failure.Signature`: a test compares
both, because trials come after this room.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bisect_tool.store.words import LONGEST, words_of

LONGEST_KEY = 200  # characters of what a row is found by
MOST_BUILDS = 20  # untestable builds of one end that are listed
MOST_SUSPECTS = 3
UNFINISHED = "unfinished"
_ISSUE = re.compile(r"^(?:https?://)?(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull|discussions)/(\d+)")
_SHORT_ISSUE = re.compile(r"^([\w.-]+/[\w.-]+)#(\d+)$")
_END = (
    *("kind", "last_without", "first_with", "last_with", "first_without", "verified", "compare", "confidence"),
    *("same_code", "also_differs", "is_rate"),
)

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a report says of builds and commits, by their names."""

    dates: Mapping[str, str]
    commits: Mapping[str, dict[str, Any]]


def issue_key(address: str) -> str:
    """What an issue is found by: `owner/name#number` of GitHub's, else the address; small letters."""
    text = address.strip().lower()
    found = _ISSUE.match(text) or _SHORT_ISSUE.match(text)
    return f"{found[1]}#{found[2]}" if found else "".join(text.partition("#")[0].split()).rstrip("/")[:LONGEST_KEY]


def question_of(report: Report) -> str:
    """A name for the question that a report answers: only its newest report counts.

    That is the spec, its repro, package, channel, range, kind of device and version of Python.
    """
    spec, asked, machine = report["spec"], report["range"], report["environment"]
    python = ".".join(str(machine["python"]).split(".")[:2])
    parts = (
        *(spec["name"], spec["digest"], spec["package"], report["channel"]),
        *(asked.get("asked_from"), asked.get("asked_to"), machine["device"], python),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def identity_of(signature: Mapping[str, Any]) -> str:
    """The identity of a signature as a report has it."""
    types = signature.get("types") or ("",)
    text = "\0".join((signature["kind"], types[-1], signature.get("message", ""), signature.get("where") or ""))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def rows_of(report: Report, run: str, ended: str) -> list[dict[str, Any]]:
    """The rows of a report, with their `words`. Raises `KeyError`, `TypeError` for what is no report."""
    spec = report["spec"]
    common = {
        "question": question_of(report),
        "run": run,
        "repro": spec["digest"],
        "spec": spec["name"][:LONGEST_KEY],
        "package": spec["package"][:LONGEST_KEY],
        "device": report["environment"]["device"][:LONGEST_KEY],
        "finished": int(report["outcome"] != UNFINISHED),
        "ended": ended,
    }
    about = _about(report)
    commits = _commits(report)
    failures: Iterable[Mapping[str, Any] | None] = report["failures"] or (None,)
    rows = [common | _row(spec, about, failure, _Facts(_dates(report, failure), commits)) for failure in failures]
    issue = issue_key(spec["issue"]) if spec.get("issue") else ""
    return [row | {"words": [*_keys(row, issue), *row["words"]]} for row in rows]


def key(kind: str, text: str) -> str:
    """The word by which rows of a `kind` (repro, identity, spec, package, issue) are found; no text has such a word."""
    return f"{kind}={text[:LONGEST_KEY]}"


def _keys(row: Mapping[str, Any], issue: str) -> list[str]:
    kinds = {kind: row[kind] for kind in ("repro", "identity", "spec", "package")} | {"issue": issue}
    return [key(kind, text) for kind, text in kinds.items() if text]


def _row(
    spec: Mapping[str, Any], about: dict[str, Any], failure: Mapping[str, Any] | None, facts: _Facts
) -> dict[str, Any]:
    names = [spec["name"], spec.get("title", ""), spec.get("issue") or ""]
    whole = _whole([spec["name"], *((failure["id"], failure["name"], failure["case"]) if failure else ())])
    if failure is None:
        texts = [*names, *about["cases"]]
        return {
            "identity": "",
            "failure": "",
            "title": spec.get("title", ""),
            "entry": about,
            "words": _words(whole, texts),
        }
    signature = failure["signature"]
    said = [*signature.get("types", ()), signature.get("message", ""), signature["title"], signature.get("where") or ""]
    texts = [*said, failure["id"], failure["name"], failure["case"], *names, signature.get("text", "")]
    entry = about | {"failure": _failure(failure, facts)}
    return {
        "identity": identity_of(signature),
        "failure": failure["id"][:LONGEST_KEY],
        "title": signature["title"],
        "entry": entry,
        "words": _words(whole, texts),
    }


def _whole(names: Iterable[str]) -> list[str]:
    """Names that are words as they stand, with all their hyphens."""
    return [name.lower() for name in names if name and len(name) <= LONGEST and not any(map(str.isspace, name))]


def _words(whole: list[str], texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*whole, *words_of(texts)]))


def _about(report: Report) -> dict[str, Any]:
    """What is said of each failure of a report."""
    spec, asked, machine = report["spec"], report["range"], report["environment"]
    return {
        "spec_title": spec.get("title", ""),
        "issue": spec.get("issue"),
        "channel": report["channel"],
        "python": machine["python"],
        "first": asked["first"],
        "last": asked["last"],
        "asked_from": asked.get("asked_from"),
        "asked_to": asked.get("asked_to"),
        "outcome": report["outcome"],
        "summary": list(report["summary"]),
        "repeat": report["repeat"],
        "cases": [case["name"] for case in report["cases"]],
    }


def _failure(failure: Mapping[str, Any], facts: _Facts) -> dict[str, Any]:
    signature = failure["signature"]
    return {
        "name": failure["name"],
        "case": failure["case"],
        "kind": signature["kind"],
        "types": list(signature.get("types", ())),
        "message": signature.get("message", ""),
        "where": signature.get("where"),
        "episodes": [
            {"appeared": _end(one["appeared"], facts), "fixed": _end(one["fixed"], facts)}
            for one in failure["episodes"]
        ],
    }


def _end(end: Mapping[str, Any], facts: _Facts) -> dict[str, Any]:
    kept = {name: end[name] for name in _END if end.get(name) is not None}
    untestable = list(end.get("untestable", ()))
    builds = [end.get(name) for name in ("last_without", "first_with", "last_with", "first_without")]
    return kept | {
        "untestable": untestable[:MOST_BUILDS],
        "untestable_count": len(untestable),
        "not_tried": sum(not hole.get("tried", True) for hole in end.get("holes", ())),
        "instead": list(end.get("changed_from") or end.get("changed_into") or ()),
        "dates": {build: facts.dates[build] for build in builds if build is not None and build in facts.dates},
        "suspects": list(_suspects(end.get("suspicion") or {}, facts.commits)),
    }


def _suspects(suspicion: Mapping[str, Any], commits: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The commits that are worth looking at first: a hint, never a verdict."""
    for one in list(suspicion.get("suspects", ()))[:MOST_SUSPECTS]:
        yield {"sha": one["sha"], **commits.get(one["sha"], {})}


def _dates(report: Report, failure: Mapping[str, Any] | None) -> dict[str, str]:
    """The dates of builds, of the case of a failure."""
    lines = (case["timeline"] for case in report["cases"] if failure is not None and case["name"] == failure["case"])
    return {entry["build"]: entry["date"] for line in lines for entry in line if entry.get("date")}


def _commits(report: Report) -> dict[str, dict[str, Any]]:
    """Title and pull request of the commits of all boundaries."""
    lists = ((boundary.get("commits") or {}).get("rows") or () for boundary in report.get("boundaries", ()))
    return {row["sha"]: {"title": row["title"], "pull": row.get("pull")} for rows in lists for row in rows}
