"""The rows of every build on the page."""

from __future__ import annotations

import pytest

from bisect_tool.reports import timeline
from bisect_tool.reports.every_build import rows
from bisect_tool.reports.picture import draw
from bisect_tool.reports.report import CasePart, Entry
from bisect_tool.reports.writing import render
from tests.reports.samples import report


def _case(*entries: Entry) -> CasePart:
    return CasePart(name="inductor", role="test", command="python repro.py", timeline=entries)


def test_a_build_has_its_state_its_failures_and_its_log() -> None:
    entry = Entry(
        build="2.15.0<1>", date="2026-01-02T03:04:05", state="failing", failures=("a", "b"), reason='"why" & <how>',
        trials=3, duration_s=2.06, log="trials/1/log.txt",
    )  # fmt: skip
    assert rows(_case(entry), {"a": "it's <bad>"}, lambda _case, _build, log: f"cache/{log}?'") == (
        "      <tr><td><code>2.15.0&lt;1&gt;</code></td><td>2026-01-02</td>\n"
        "      <td>failing it&#39;s &lt;bad&gt; b: &#34;why&#34; &amp; &lt;how&gt;</td>\n"
        "      <td>3</td><td>2.1</td>\n"
        '      <td><a href="cache/trials/1/log.txt?&#39;">log</a></td></tr>'
    )


def test_a_build_that_was_not_tried_has_only_its_name() -> None:
    row = (
        "      <tr><td><code>2.15.0</code></td><td></td>\n      <td>not tried</td>\n      <td></td><td></td>\n"
        "      <td></td></tr>"
    )
    assert rows(_case(*[Entry(build="2.15.0", state="not tried")] * 2), {}, lambda *_: "") == row * 2


@pytest.mark.parametrize(
    ("more", "tip"),
    [
        ({}, "1.0&lt;\n2026-01-02\nnot tried"),
        ({"date": None}, "1.0&lt;\nnot tried"),
        ({"reason": "thin builds fail"}, "1.0&lt;\n2026-01-02\nnot tried\nthin builds fail"),
        ({"trials": 1}, "1.0&lt;\n2026-01-02\nnot tried\n1 trial"),
    ],
)
def test_the_tip_of_a_build_that_was_not_tried(more: dict[str, object], tip: str) -> None:
    entry = Entry.model_validate({"build": "1.0<", "date": "2026-01-02T03:04:05", "state": "not tried", **more})
    assert f"<title>{tip}</title>" in draw(report(_case(entry)))


def test_a_text_that_json_escapes_is_cleaned_all_the_same() -> None:
    dirty = report(_case(Entry(build="1", state="pass"))).model_copy(
        update={"advice": ("a\x07b", "c\x7fd", "e\u202ef", "back\\slash")}
    )
    page = render("html", dirty)
    for text in ("<dd>ab</dd>", "<dd>cd</dd>", "<dd>ef</dd>", "<dd>back\\slash</dd>"):
        assert text in page


def test_the_letters_are_those_of_the_failures_then_of_the_timelines() -> None:
    entries = [Entry(build="1", state="failing", failures=("b",)), Entry(build="2", state="failing", failure="c")]
    shown = report(_case(*entries))
    assert timeline.letters(shown) == {"b": "A", "c": "B"}
    assert timeline.names(shown) == {"b": "b", "c": "c"}
