from __future__ import annotations

import pytest

from bisect_tool.runs.report_source import ReportAccess, open_report
from bisect_tool.spec.drafting.draft import make_draft
from bisect_tool.spec.drafting.files import files_of
from bisect_tool.spec.reading import load_all
from tests.spec.drafting.drafts import GOLDEN, REPORTS, drafted, names
from tests.spec.specs import CHANNELS

REFUSED = {"no-code.md", "broken-code.md"}


@pytest.mark.parametrize("name", names())
def test_what_is_made_of_a_report(name: str) -> None:
    assert drafted(name) == (GOLDEN / f"{name}.out").read_text(encoding="utf-8")


def test_every_golden_file_has_its_report() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.out")) == names()


@pytest.mark.parametrize("name", [name for name in names() if name not in REFUSED])
def test_every_draft_is_a_valid_spec(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("draft")
    draft = make_draft(open_report(str(REPORTS / name), ReportAccess()))
    for file, text in files_of(draft).items():
        (folder / file).write_text(text, encoding="utf-8")
    (read,) = load_all([folder], channels=CHANNELS)
    assert read.spec.title == draft.title
    assert len(read.spec.tests) >= 1
