from __future__ import annotations

from pathlib import Path

from bisect_tool.spec.drafting.draft import make_draft
from bisect_tool.spec.drafting.files import spec_text
from bisect_tool.spec.drafting.report import read_report

PAGE = Path(__file__).resolve().parents[3] / "docs" / "init.md"


def test_the_example_of_the_page_is_what_is_drafted() -> None:
    example = PAGE.read_text().partition("## An example\n\n```\n")[2]
    report, _, rest = example.partition("```\n\nbecomes\n\n```yaml\n")
    head, _, spec = spec_text(make_draft(read_report(report, name="take"))).partition("\n")
    assert head.startswith("# Drafted by")
    assert spec == rest.partition("```")[0]
