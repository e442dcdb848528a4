from __future__ import annotations

import re
from html.parser import HTMLParser

from bisect_tool.reports.batch.page import render
from tests.reports import samples
from tests.reports.batch.lines import line, several


class Nesting(HTMLParser):
    """Checks that every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.add(tag)
        if tag not in {"meta", "rect"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"meta", "rect"}:
            assert self.open.pop() == tag


def page() -> str:
    return render(several(), title="a <batch>", notes=["a & b"], made="now")


def test_it_is_well_formed_and_has_no_script() -> None:
    parser = Nesting()
    parser.feed(page())
    assert parser.open == []
    assert "script" not in parser.tags


def test_it_needs_nothing_from_elsewhere() -> None:
    assert not re.findall(r'(?:src|href)="(?!specs/|https://github\.com/|#)[^"]*"', page())


def test_texts_are_escaped() -> None:
    assert "<script>alert(1)</script>" not in page()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page()
    assert "a &lt;batch&gt;" in page()


def test_every_spec_is_there_once_faults_first() -> None:
    text = page()
    for one in several():
        assert len(re.findall(rf'<div class="name">(?:<a [^>]*>)?{one.name}<', text)) == 1
    assert text.index(">wrong<") < text.index('report.html">exact<')


def test_timelines_of_one_stream_share_the_axis_of_time() -> None:
    late = samples.report(samples.case("main", "✓✓AAA", samples.RELEASES[:5]))
    long = samples.report(samples.case("main", "✓✓✓✓✓AAAAA"))
    text = render([line("long", long), line("short", late)], title="t")
    boxes = re.findall(r'<g class="failing f0"><title>[^<]*</title><rect x="([0-9.]+)" y="1" width="([0-9.]+)"', text)
    assert boxes == [("333.3", "266.7"), ("133.3", "133.3")]  # days 5 to 9 and 2 to 4, of 9 days on 600 units


def test_a_thousand_specs_are_a_page_of_a_size_to_open() -> None:
    one = line("x", samples.long())
    text = render([one.model_copy(update={"name": f"x-{number}"}) for number in range(1000)], title="t")
    assert len(text) < 5_000_000
