from __future__ import annotations

from bisect_tool.reports.batch.counts import counts_of
from bisect_tool.reports.batch.line import SpecLine
from tests.reports import samples
from tests.reports.batch.lines import line, several


def test_lines_read_back() -> None:
    for one in several():
        assert SpecLine.model_validate_json(one.model_dump_json()) == one
        assert "\n" not in one.model_dump_json()


def test_a_failure_is_open_when_the_newest_judged_build_has_it() -> None:
    assert [one.name for one in line("open", samples.open_ended()).open_changes] == ["zero-grad"]
    assert line("exact", samples.exact()).open_changes == ()


def test_neighbours_of_one_state_are_one_stretch_with_the_dates_of_its_ends() -> None:
    report = samples.report(samples.case("main", "✓✓✓✓AAAAA✓"))
    (row,) = line("x", report).timelines
    assert [(one.first, one.last, one.builds, one.state) for one in row.stretches] == [
        ("2.8.0", "2.10.0", 4, "pass"), ("2.11.0", "2.14.0", 5, "failing"), ("2.15.0", "2.15.0", 1, "pass"),
    ]  # fmt: skip
    assert row.stretches[1].first_date == "2026-01-05T04:15:00+00:00"


def test_counts() -> None:
    counts = counts_of(several())
    assert (counts.specs, counts.unanswered, counts.unfinished, counts.not_judged, counts.no_change) == (11, 2, 1, 1, 2)
