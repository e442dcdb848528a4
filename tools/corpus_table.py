"""`docs/results/corpus.md`: the answers under `docs/results/` against what is known without this tool.

`--check` tells whether the page is current instead of writing it.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from bisect_tool.quantities import format_duration

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
PAGE = RESULTS / "corpus.md"
KNOWN = RESULTS / "corpus" / "known.toml"
Values = Mapping[str, Any]

HEAD = """# The corpus: real regressions, what is known of them, and what `bisect` answers

Made by `tools/corpus_table.py` from the reports under `docs/results/` and `corpus/known.toml`. *Exact*: every change lies
between two neighbouring builds, inside of what is known. *Narrowed*: what is known lies inside of the answer. *Wrong*: anything
else, also a change that is not known. `tests/corpus/test_recorded.py` makes the answers again from recorded trials. Trials are
with those that a run before had left, installs without builds that another spec of the same run had installed.

| case | kind | known | answer | verdict | trials | installs | time |
|---|---|---|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    known = tomllib.loads(KNOWN.read_text())
    rows = [row(name, case) for name, case in known.items() if report_of(name, case) is not None]
    missing = [f"`{name}`" for name, case in known.items() if report_of(name, case) is None]
    notes = [f"**{name}.** {case['note']}" for name, case in known.items() if "note" in case]
    parts = [HEAD + "\n".join(rows)]
    parts += ["## Notes", *notes] if notes else []
    parts += [f"Without an answer so far: {', '.join(missing)}."] if missing else []
    return "\n\n".join(parts) + "\n"


def report_of(name: str, case: Values) -> Values | None:
    """The kept report of a case; None when it was not run."""
    path = RESULTS / case.get("report", f"corpus/{name}.json")
    return json.loads(path.read_text()) if path.exists() else None


def row(name: str, case: Values) -> str:
    """The row of a case that was run."""
    report = report_of(name, case) or {}
    counts = report["counts"]
    trials = counts["trials"] + counts["trials_known"]
    issue = report["spec"]["issue"]
    cells = (
        f"[{name}](../../repro_specs/{name}/)",
        case["kind"],
        f"{_stated(case)} ([source]({issue}))",
        "; ".join(_answer(report)) or "no change",
        verdict(case, report),
        str(trials),
        str(counts["builds_installed"]),
        format_duration(report["elapsed_s"]),
    )
    return f"| {' | '.join(cells)} |"


def verdict(case: Values, report: Values) -> str:
    """`exact`, `narrowed`, `wrong`, or `no change, as known`: of all changes the least."""
    found = list(_ends(report))
    if "none" in case:
        return "wrong" if found else "no change, as known"
    expected = [
        (change["case"], change.get("failure"), side, change[side])
        for change in case["changes"]
        for side in ("appeared", "fixed")
        if side in change
    ]
    words = [_agreement(one, found) for one in expected]
    unknown = len(found) > sum(word != "wrong" for word in words)
    if "wrong" in words or unknown:
        return "wrong"
    return "narrowed" if "narrowed" in words else "exact"


End = tuple[str, str, str, str, str, str]


def _ends(report: Values) -> Iterator[End]:
    """(case, failure, side, kind, older build, newer build) of every end that is not open, of a failure that a test shows."""
    for failure in report["failures"]:
        for episode in failure["episodes"]:
            for side, older, newer in (
                ("appeared", "last_without", "first_with"),
                ("fixed", "last_with", "first_without"),
            ):
                end = episode[side]
                if end["kind"] != "open":
                    yield failure["case"], failure["name"], side, end["kind"], end[older], end[newer]


def _agreement(expected: tuple[str, str | None, str, Sequence[str]], found: Sequence[End]) -> str:
    case, failure, side, (older, newer) = expected
    words = []
    for its_case, its_failure, its_side, kind, before, after in found:
        if (its_case, its_side) != (case, side) or failure not in {None, its_failure}:
            continue
        inside = Version(older) <= Version(before) and Version(after) <= Version(newer)
        around = Version(before) <= Version(older) and Version(newer) <= Version(after)
        words.append(
            "exact"
            if kind == "exact" and inside
            else "narrowed"
            if kind == "narrowed" and (around or inside)
            else "wrong"
        )
    return min(words, key=("exact", "narrowed", "wrong").index, default="wrong")


def _stated(case: Values) -> str:
    if "none" in case:
        return f"{case['stated']}; here: {case['none']}"
    by = sorted({word for change in case["changes"] for word in change["by"].split(", ")})
    return f"{case['stated']} ({' and '.join(by)})" if by else case["stated"]


def _answer(report: Values) -> Iterator[str]:
    several = len({case["name"] for case in report["cases"] if case["role"] == "test"}) > 1
    for failure in report["failures"]:
        for episode in failure["episodes"]:
            start, end = episode["appeared"], episode["fixed"]
            where = f"{failure['case']}: " if several else ""
            if start["kind"] == end["kind"] == "exact" and start["first_with"] == end["last_with"]:
                yield f"{where}{failure['name']} in {end['last_with']} alone"
                continue
            told = [
                f"from {start['first_with']}"
                if start["kind"] == "exact"
                else _loose(start["last_without"], start["first_with"], "from")
            ]
            told.append(
                "to the end"
                if end["kind"] == "open"
                else f"until {end['last_with']}"
                if end["kind"] == "exact"
                else _loose(end["last_with"], end["first_without"], "until")
            )
            yield f"{where}{failure['name']} {' '.join(told)}"


def _loose(older: str | None, newer: str | None, word: str) -> str:
    """An end that is open or narrowed."""
    if older is None:
        return f"at least {word} {newer}"
    return f"{word} some build between {older} and {newer}"


def main() -> int:
    """Write the page, or with `--check` say whether it is current."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    return 0 if PAGE.exists() and PAGE.read_text() == text else 1


if __name__ == "__main__":
    sys.exit(main())
