"""What `bisect init` makes of the reports in `reports/`, as text to compare with `golden/`."""

from __future__ import annotations

from pathlib import Path

from bisect_tool.errors import SpecError
from bisect_tool.runs.report_source import ReportAccess, open_report
from bisect_tool.spec.drafting.draft import Draft, make_draft
from bisect_tool.spec.drafting.files import files_of
from bisect_tool.spec.drafting.report import read_report
from bisect_tool.spec.drafting.telling import summary

HERE = Path(__file__).parent
REPORTS = HERE / "reports"
GOLDEN = HERE / "golden"


def names() -> list[str]:
    """The reports that there are."""
    return sorted(path.name for path in REPORTS.iterdir())


def drafted(name: str) -> str:
    """The files and the summary of a report, or the error that it ends with; `repro.py` only where it is the user's code."""
    try:
        draft = make_draft(open_report(str(REPORTS / name), ReportAccess()))
    except SpecError as error:
        return f"--- error\n{error}\n"
    files = files_of(draft)
    shown = {key: text for key, text in files.items() if not (key == "repro.py" and draft.runs_in_runner)}
    parts = [f"--- {key}\n{text}" for key, text in shown.items()]
    told = "\n".join(line.rstrip() for line in summary(draft, draft.name, files))
    return "".join([*parts, f"--- told\n{told}\n"])


def draft_of(text: str, title: str = "", *, is_script: bool = False) -> Draft:
    """The draft of a report that a test writes."""
    return make_draft(read_report(text, title=title, is_script=is_script))
