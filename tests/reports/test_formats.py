from __future__ import annotations

import json
import os
import re
import threading
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from bisect_tool.errors import OutputNotWritten
from bisect_tool.reports.formats.markdown import escape
from bisect_tool.reports.picture import draw
from bisect_tool.reports.report import Report
from bisect_tool.reports.schema import report_schema
from bisect_tool.reports.writing import deliver, format_names, render, write
from tests.reports.samples import ALL

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sorted(ALL)


def sample(name: str) -> Report:
    return ALL[name]()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("format_", ["terminal", "markdown"])
def test_the_text_is_the_one_in_the_golden_file(name: str, format_: str) -> None:
    """To accept a change of wording: `python -m tests.reports.regenerate`, then read the difference."""
    assert render(format_, sample(name)) == (GOLDEN / f"{name}.{format_}").read_text(encoding="utf-8")


def test_the_formats_are_the_files_of_the_folder() -> None:
    assert format_names() == ("html", "json", "markdown", "terminal")


@pytest.mark.parametrize("name", SAMPLES)
def test_json_reads_back_and_fits_its_schema(name: str) -> None:
    report = sample(name)
    text = render("json", report)
    assert Report.model_validate_json(text) == report
    jsonschema.validate(json.loads(text), report_schema())


def test_json_has_the_keys_that_are_promised() -> None:
    found = json.loads(render("json", sample("narrowed")))
    assert found["schema_version"] == 1
    assert {"spec", "channel", "cases", "failures", "counts", "elapsed_s", "environment"} <= found.keys()
    assert {"build", "date", "state", "failure", "trials"} <= found["cases"][0]["timeline"][0].keys()
    episode = found["failures"][0]["episodes"][0]
    assert {"kind", "last_without", "first_with", "untestable"} <= episode["appeared"].keys()
    assert {"kind", "last_with", "first_without", "untestable"} <= episode["fixed"].keys()
    assert {"builds_considered", "builds_installed", "trials"} <= found["counts"].keys()


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in {"rect", "line"}:
            self.wrong.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_is_whole_and_needs_nothing_from_elsewhere(name: str) -> None:
    page = Page()
    page.feed(render("html", sample(name)))
    assert page.wrong == []
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "iframe", "link", "object", "embed"}
    assert not [attrs for _, attrs in page.tags if any(key.startswith("on") or key == "src" for key in attrs)]
    assert dict(page.tags[0][1]) == {"lang": "en"}


@pytest.mark.parametrize("name", ["hostile", "hostile_commits"])
def test_hostile_text_stays_text(name: str) -> None:
    report = sample(name)
    page = render("html", report)
    assert "<script" not in page
    assert "javascript:" not in page + render("markdown", report)
    for text in (page, render("terminal", report), render("markdown", report)):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text


def test_links_of_commits_lead_to_the_web_or_nowhere() -> None:
    page = Page()
    page.feed(render("html", sample("hostile_commits")))
    links = [attrs.get("href") or "" for tag, attrs in page.tags if tag == "a"]
    assert all(re.match(r"https?://github\.com/|cache/trials/", link) for link in links), links
    text = render("markdown", sample("hostile_commits"))
    assert re.findall(r"\]\((?!https://)", text) == []
    assert "@\u200btorvalds" in text
    assert "@torvalds" not in text


def test_a_commit_of_the_list_is_linked_in_page_and_text() -> None:
    for format_ in ("html", "markdown"):
        text = render(format_, sample("with_commits"))
        assert "https://github.com/pytorch/pytorch/commit/" + "6" * 40 in text
        assert "https://github.com/pytorch/pytorch/pull/1007" in text


def test_the_report_opens_with_the_commit_to_look_at() -> None:
    opening = render("terminal", sample("with_commits")).split("\n\n")[1]
    assert (
        "Of the 8 commits (2 of them cancel out) between 2.11.0 and 2.12.0 look first at 111111111111, #1001"
        in " ".join(opening.split())
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", r"a \| b"),
        ("`code` *bold* _it_", r"\`code\` \*bold\* \_it\_"),
        ("ask @someone about #123", "ask @\u200bsomeone about #\u200b123"),
        ("<b>", r"\<b\>"),
        ("two\nlines", "two lines"),
    ],
)
def test_markdown_from_outside_formats_and_calls_nobody(text: str, expected: str) -> None:
    assert escape(text) == expected


def test_a_fence_is_longer_than_any_inside() -> None:
    text = render("markdown", sample("hostile"))
    fences = re.findall(r"(?m)^(`{3,})text$", text)
    inside = re.findall(r"`{3,}", text)
    assert fences
    assert max(map(len, fences)) >= max(map(len, inside))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_picture_has_a_cell_for_each_case_and_build(name: str) -> None:
    report = sample(name)
    picture = ET.fromstring(draw(report))
    cells = [group for group in picture if "cell" in group.get("class", "").split()]
    assert len(cells) == sum(len(case.timeline) for case in report.cases)
    assert all(group[0].tag == "title" and group[0].text for group in cells)


def test_labels_of_a_picture_do_not_touch() -> None:
    picture = ET.fromstring(draw(sample("long")))
    places = sorted(float(text.get("x", "0")) for text in picture if text.get("class") == "version")
    assert min(right - left for left, right in pairwise(places)) >= 57.9
    assert len(places) >= 8


def test_several_reports_go_into_a_folder(tmp_path: Path) -> None:
    reports = [
        sample("exact"),
        sample("flaky").model_copy(update={"spec": sample("flaky").spec.model_copy(update={"name": "other"})}),
    ]
    deliver(reports, "json", tmp_path / "answers")
    assert sorted(path.name for path in (tmp_path / "answers").iterdir()) == sorted(
        f"{one.spec.name}.json" for one in reports
    )


def test_two_specs_of_one_name_get_two_files(tmp_path: Path) -> None:
    deliver([sample("exact"), sample("flaky")], "json", tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["diagonal-scatter-grad-2.json", "diagonal-scatter-grad.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    write(tmp_path / "link.md", "new")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "new"


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe, "through")
    reader.join(10)
    assert got == ["through"]
    assert pipe.is_fifo()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "report.md"
    write(target, "one")
    write(target, "two")
    assert target.read_text() == "two"
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(OutputNotWritten) as caught:
        write(target / "below-a-file.md", "three")
    assert "below-a-file.md" in str(caught.value)
