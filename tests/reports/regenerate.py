"""``python -m tests.reports.regenerate``: write the golden files anew. Read the difference before you commit it."""

from __future__ import annotations

from bisect_tool.reports.writing import render
from tests.reports.samples import ALL
from tests.reports.test_formats import GOLDEN


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name, make in ALL.items():
        for format_ in ("terminal", "markdown"):
            (GOLDEN / f"{name}.{format_}").write_text(render(format_, make()), encoding="utf-8")


if __name__ == "__main__":
    main()
