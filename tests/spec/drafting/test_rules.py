from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bisect_tool.spec.drafting as room
from bisect_tool.errors import SpecError
from bisect_tool.runs.report_source import ReportAccess, open_report
from bisect_tool.spec.drafting.draft import make_draft
from bisect_tool.spec.drafting.finding import Found
from bisect_tool.spec.drafting.rules import RULES
from tests.spec.drafting.drafts import REPORTS, names

# Nothing that the reports of this folder show; each has a test of its own.
ELSEWHERE = {"package-repository", "from-a-year-before", "device-own-choice", "requires-one-of"}


def test_every_rule_is_one_that_the_code_names() -> None:
    sources = "".join(path.read_text() for path in Path(room.__path__[0]).glob("*.py") if path.name != "rules.py")
    assert {rule for rule in RULES if f'"{rule}"' not in sources} == set()


def test_every_rule_but_a_few_is_used_by_some_report() -> None:
    used: set[str] = set()
    for name in names():
        try:
            draft = make_draft(open_report(str(REPORTS / name), ReportAccess()))
        except SpecError:
            continue
        fields: tuple[Found[Any], ...] = (
            draft.source, draft.package, draft.kind, draft.span.channel, draft.span.first, draft.span.last, draft.devices,
            draft.python, draft.requires, draft.hold, draft.variables, draft.repository, draft.timeout,
            *draft.cases, *draft.failures, *draft.reasons,
        )  # fmt: skip
        used |= {field.rule for field in fields}
    assert used - set(RULES) == set()
    assert set(RULES) - used == ELSEWHERE


def test_rules_are_rows_of_a_table() -> None:
    assert [text for row in RULES.values() for text in row if re.search(r"[|\n]", text)] == []
