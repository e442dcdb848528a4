from __future__ import annotations

from bisect_tool.reports.formats import html, markdown, terminal
from bisect_tool.reports.report import TimePart
from bisect_tool.reports.time_line import where_time_went
from tests.reports import samples

TIME = TimePart(
    total_s=200.0, run_s=120.0, import_s=20.0, unpack_s=30.0, download_s=25.0, wait_s=0.0, own_s=5.0, overlapped_s=45.0,
    slots=2, trials=12, bytes_fetched=1_200_000_000, made_ahead=9, used_ahead=6, estimated_s=240.0,
    estimated_bytes=1_500_000_000,
)  # fmt: skip
LINE = (
    "3 min 20 s in 2 slots: trials 2 min, import 20 s, unpacking 30 s, waiting for downloads 25 s, bisect itself 5.0 s; "
    "45 s of work went on beside that; fetched 1.2 GB, 9 environments made ahead of need, 6 of them used "
    "(estimated before: 4 min, 1.5 GB for the builds alone)"
)


def test_the_time_is_told_in_one_line_beside_the_estimate() -> None:
    assert where_time_went(TIME) == LINE


def test_what_took_no_time_is_not_told() -> None:
    quick = TIME.model_copy(
        update={
            "slots": 1,
            "overlapped_s": 0.0,
            "bytes_fetched": 0,
            "made_ahead": 0,
            "estimated_s": None,
            "unpack_s": 0.0,
        }
    ).model_copy(update={"estimated_bytes": None})
    assert where_time_went(quick) == (
        "3 min 20 s: trials 2 min, import 20 s, waiting for downloads 25 s, bisect itself 5.0 s"
    )


def test_every_report_that_people_read_has_the_line() -> None:
    report = samples.exact().model_copy(update={"time": TIME})
    folded = " ".join(terminal.render(report).split())
    assert f"time {LINE}" in folded
    assert "Time: 3 min 20 s in 2 slots" in markdown.render(report)
    assert f"<dt>Time</dt><dd>{LINE}</dd>" in html.render(report)
