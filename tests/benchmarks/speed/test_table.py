from __future__ import annotations

from tests.benchmarks.speed import table
from tests.benchmarks.speed.critical_path import with_paths
from tests.benchmarks.speed.table import Row, Target


def row(name: str, seconds: float | None, setting: str = "equal", **more: object) -> Row:
    return Row(setting, name, seconds, is_right=True, **more)  # type: ignore[arg-type]


ROWS = (
    row(table.OURS, 10.0, steps=8, own=0.4),
    row(table.PIP, 35.0),
    row(table.UV_REUSED, 20.0),
    row(table.UV_STEP, 18.0),
)


def told(rows: tuple[Row, ...], what: str) -> Target:
    return next(one for one in table.targets(rows) if one.what == what)


def test_ratios_are_those_of_the_same_setting() -> None:
    assert told(ROWS, "as long: pip / ours") == Target("as long: pip / ours", 3.0, 3.5)
    assert told(ROWS, "a quarter: pip / ours").got is None


def test_the_best_of_the_others_is_the_fastest_without_pip() -> None:
    assert told(ROWS, "as long: best of the others / ours").got == 1.8


def test_thin_builds_are_compared_where_a_download_takes_as_long_too() -> None:
    rows = (*ROWS, row(table.OURS_THIN, 9.0))
    assert told(rows, "as long, thin builds: best of the others / ours").got == 2.0


def test_a_wrong_answer_is_no_time() -> None:
    wrong = (*ROWS[:3], Row("equal", table.UV_STEP, 1.0, is_right=False))
    assert told(wrong, "as long: best of the others / ours").got == 2.0
    assert "WRONG ANSWER" in table.render_rows(wrong, {"equal": "as long"})


def test_own_time_is_that_of_a_trial() -> None:
    own = told(ROWS, "as long: own time of a trial")
    assert (own.got, own.is_met) == (50, True)


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert Target("x", 3.0, None).is_met is None
    assert Target("x", 3.0, 3.0).is_met
    assert Target("x", 3.0, 3.1, most=True).is_met is False


def test_the_price_of_prefetch_is_what_the_answer_did_not_need() -> None:
    assert table.price_of_prefetch(row(table.OURS, 1.0, sent=120, needed=100)) == 20
    assert table.price_of_prefetch(row(table.OURS, 1.0, sent=120)) is None


def test_rows_that_did_not_answer_say_why() -> None:
    lines = table.render_rows([row(table.PIP, None, note="took more than 9 s")], {"equal": "as long"})
    assert "took more than 9 s" in lines


def test_the_path_takes_its_pieces_from_the_run_with_nothing_ahead() -> None:
    off = row(table.OURS_OFF, 99.0, builds=8, steps=8, time={"unpack_s": 8.0, "import_s": 8.0, "run_s": 16.0})
    ours = row(table.OURS, 30.0, builds=8, steps=8, time={"unpack_s": 0.0, "import_s": 0.0, "run_s": 24.0})
    kept = row(table.OURS_KEPT, 25.0, builds=0, steps=8, time={"unpack_s": 0.0, "import_s": 0.0, "run_s": 24.0})
    found = with_paths([off, ours, kept], {"equal": 2.0})
    # Downloads of 2 s, 2 s of preparing, trials of 3 s: 2 + 2 + 8 * 3.
    assert [one.path for one in found[1:]] == [28.0, 24.0]


def test_without_the_run_with_nothing_ahead_there_is_no_path() -> None:
    assert with_paths(ROWS, {"equal": 2.0}) == list(ROWS)
