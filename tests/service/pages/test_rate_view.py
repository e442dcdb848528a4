from __future__ import annotations

from dataclasses import asdict, replace

from bisect_tool.reports import events
from bisect_tool.reports.study_stand import SideRate, StudyStand
from bisect_tool.service.news import kind_of, line_of, read_line
from bisect_tool.service.pages.live_view import LiveView
from bisect_tool.service.pages.rate_view import LiveStudy, likely_range, study_of
from tests.service.pages.test_live_view import BUILDS, Told, known, started, view

OLDER, NEWER = SideRate(0, 12, 0.0, 0.26), SideRate(5, 12, 0.19, 0.68)
STAND = StudyStand(
    0, 7, 40, "unfinished", OLDER, NEWER,
    chances=(0.0, 0.01, 0.02, 0.6, 0.3, 0.02, 0.0), trials_left=134, seconds_left=1200.0,
)  # fmt: skip


def studied(*stands: StudyStand, case: str = "main", failure: str = "zero") -> Told:
    event = events.RatesStudied(case, failure, stands)
    kind, body = read_line(line_of(kind_of(event), asdict(event)))  # as it comes from the process that answers
    return Told(30.0, kind, dict(body))


def shown(*stands: StudyStand) -> LiveStudy:
    (rate,) = view(started(), studied(*stands)).rates
    (study,) = rate.studies
    return study


def test_the_chances_of_each_build_are_shown_with_what_they_say() -> None:
    study = shown(STAND)
    assert study.picture.count("<rect") == 7
    assert "1.4: 60 %" in study.picture
    assert study.facts == (
        ("rate", "1.0: 0 of 12 trials (0 %; 0 % to 26 %)"),
        ("rate", "1.7: 5 of 12 trials (42 %; 19 % to 68 %)"),
        ("change", "not settled yet, after 40 trials"),
        ("came with", "1.4 60 %, 1.5 30 %, 1.3 2.0 %, 1.6 2.0 %, 1.2 1.0 %"),
        ("most likely", "after 1.1, with 1.6 at the latest (95 %)"),
        ("no change", "5 %"),
    )
    assert study.left == "About 130 trials to go, about 20 min."


def test_before_the_ends_are_told_apart_nothing_is_guessed() -> None:
    study = shown(replace(STAND, chances=(), trials_left=None, seconds_left=None))
    assert study.picture == ""
    assert study.left.startswith("Both ends are run in turn")
    assert [label for label, _ in study.facts] == ["rate", "rate", "change"]


def test_a_verdict_is_told_as_the_report_tells_it() -> None:
    study = shown(replace(STAND, verdict="found", before=3, after=4, confidence=0.995))
    assert ("rate", "1.4 and newer: 5 of 12 trials (42 %; 19 % to 68 %)") in study.facts
    assert ("change", "99.5 % sure, after 40 trials") in study.facts
    assert study.left == ""


def test_trials_are_left_where_a_rate_is_studied_and_builds_elsewhere() -> None:
    def left(*told: Told) -> LiveView:
        return view(started(), known("1.0", "pass"), known("1.7", "flaky", "zero"), *told)

    before, during = left(), left(studied(STAND))
    assert (before.left, before.doing[-1]) == (
        ("It changes between 1.0 and 1.7: 6 builds left.",),
        "About 3 builds to go.",
    )
    assert during.left == ()
    assert not any("to go" in line for line in during.doing)
    settled = left(studied(replace(STAND, verdict="found", before=3, after=4, confidence=0.995)))
    assert settled.doing[-1] == "About 3 builds to go."


def test_several_cases_are_named_and_the_next_channel_begins_anew() -> None:
    cases = [["a", "test"], ["b", "test"]]
    seen = view(started(cases), studied(STAND, case="a"), studied(STAND, case="b"))
    assert [rate.told for rate in seen.rates] == ["zero (a)", "zero (b)"]
    assert view(started(cases), studied(STAND, case="a"), started(cases)).rates == ()


def test_what_does_not_fit_the_builds_of_the_run_is_passed_over() -> None:
    for wrong in (
        replace(STAND, last=8, chances=(0.1,) * 8),
        replace(STAND, first=-1),
        replace(STAND, chances=(0.5,)),
        replace(STAND, before=0, after=8),
    ):
        assert view(started(), studied(wrong)).rates[0].studies == ()


def test_words_of_a_repro_are_text() -> None:
    builds = ["<b>1", "2", "3\x1b[2J"]
    stand = replace(STAND, last=2, chances=(0.5, 0.4), trials_left=3, seconds_left=None)
    (rate,) = view(started(builds=builds), studied(stand, failure="<script>\x1b[2J\nx")).rates
    assert rate.told == "<script> x"
    assert "<b>" not in rate.studies[0].picture
    assert rate.studies[0].left == "About 3 trials to go."


def test_the_likely_range_is_the_shortest_that_has_enough() -> None:
    def likely(*chances: float) -> tuple[str, str] | None:
        return likely_range(study_of(replace(STAND, chances=chances), BUILDS))

    assert likely(0, 0, 0, 1.0, 0, 0, 0) == ("1.3", "1.4")
    assert likely(0.5, 0, 0, 0, 0, 0, 0.5) == ("1.0", "1.7")
    assert likely(0.02, 0.5, 0.46, 0.02, 0, 0, 0) == ("1.1", "1.3")
    assert likely(0.1, 0, 0, 0, 0, 0, 0) is None
