"""The pages of `docs/` for people: their links lead somewhere, and the messages that they quote are messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "repro_specs").rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`]*)`")


def anchors(page: Path) -> set[str]:
    """The names of its headings, as GitHub and others make them: lower case, no punctuation, a hyphen for each space."""
    found = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def broken(page: Path) -> list[str]:
    """Its relative links that lead nowhere."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [link for link in LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]
    return [link for link in targets if not _leads_somewhere(page, *link.partition("#")[::2])]


def _leads_somewhere(page: Path, path: str, anchor: str) -> bool:
    target = (page.parent / path) if path else page
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One title\n[a](#one-title) [b](#two) [c](gone.md) [d](https://github.com) `[e](f)`\n")
    assert broken(page) == ["#two", "gone.md"]


def test_messages_of_the_page_on_troubles_are_messages_of_the_program() -> None:
    """What stands before the status of a message, or in the first column of its table, is in the code in just these words."""
    lines = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").splitlines()
    heads = [match[1] for line in lines if (match := re.match(r"\*\*(.+?)\*\*", line))]
    rows = [line.split("|")[1] for line in lines if line.startswith("| `")]
    quoted = [words for text in (*heads, *rows) for words in QUOTED.findall(text)]
    code = " ".join(
        re.sub(r'"\s*\n\s*f?"', "", path.read_text("utf-8")) for path in (ROOT / "bisect_tool").rglob("*.py")
    )
    code = re.sub(r"%[sd]|\{[^{}]*\}", "…", code)
    pieces = [piece.strip() for words in quoted for piece in words.split("…") if len(piece.strip()) > 3]
    assert len(pieces) > 15
    assert [piece for piece in pieces if piece not in code] == []
