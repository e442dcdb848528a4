from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bisect_tool.service.pages.live_view import LiveView, live_view

BUILDS = [f"1.{number}" for number in range(8)]


@dataclass(frozen=True, slots=True)
class Told:
    at: float
    kind: str
    body: dict[str, Any] = field(default_factory=dict)


def started(cases: list[list[str]] | None = None, builds: list[str] | None = None) -> Told:
    body = {"spec": "s", "package": "toy", "builds": builds or BUILDS, "cases": cases or [["main", "test"]]}
    return Told(10.0, "run_started", {**body, "device": "cpu", "steps_left": 3})


def known(build: str, state: str, failure: str | None = None, case: str = "main") -> Told:
    return Told(20.0, "state_known", {"case": case, "build": build, "state": state, "failure": failure})


def view(*told: Told) -> LiveView:
    return live_view(told, now=100.0)


def test_what_is_left_is_between_the_builds_that_differ() -> None:
    seen = view(started(), known("1.0", "pass"), known("1.7", "failing", "zero"), known("1.4", "pass"))
    assert seen.left == ("It changes between 1.4 and 1.7: 2 builds left.",)


def test_several_cases_are_named_and_controls_have_nothing_left() -> None:
    cases = [["eager", "control"], ["a", "test"], ["b", "test"]]
    told = [
        known(build, state, case=case)
        for case in ("eager", "b")
        for build, state in (("1.0", "pass"), ("1.7", "flaky"))
    ]
    assert view(started(cases), *told).left == ("b changes between 1.0 and 1.7: 6 builds left.",)


def test_builds_that_cannot_be_tested_are_not_left() -> None:
    between = [known(build, "untestable") for build in BUILDS[1:4]]
    seen = view(started(builds=BUILDS[:6]), known("1.0", "pass"), *between, known("1.5", "failing", "zero"))
    assert seen.left == ("It changes between 1.0 and 1.5: 1 build left.",)


def test_counts_are_of_states_of_builds() -> None:
    seen = view(started(), known("1.0", "pass"), known("1.1", "pass"), known("1.7", "failing", "zero"))
    assert seen.cases[0].counts == (2, 1, 0, 0, 5)


def test_failures_have_letters_and_the_picture_shows_them() -> None:
    seen = view(started(), known("1.6", "failing", "one"), known("1.7", "failing", "two"))
    assert [(one.letter, one.name) for one in seen.failures] == [("A", "one"), ("B", "two")]
    assert ">A</text>" in seen.picture
    assert ">B</text>" in seen.picture


def test_the_log_says_what_the_terminal_would_say_and_marks_trouble() -> None:
    trouble = Told(31.0, "machine_trouble", {"text": "no space", "attempt": 1, "of": 3})
    seen = view(Told(1.0, "job_queued"), Told(5.0, "job_started"), started(), trouble)
    assert [line.text for line in seen.lines[:2]] == ["waits for a worker", "a worker has taken it"]
    assert [line.is_trouble for line in seen.lines] == [False, False, False, True]


def test_events_of_another_version_are_passed_over() -> None:
    assert view(Told(1.0, "from_the_future", {"x": 1}), Told(2.0, "notice", {"no": "text"})).lines == ()


def test_how_long_it_is_at_something_counts_from_the_event() -> None:
    seen = view(started(), Told(40.0, "checking", {"build": "1.3"}))
    assert seen.doing[0] == "Proving that 1.3 is what was installed, for 1 min."


def test_versions_of_nightlies_are_shown_by_their_day() -> None:
    seen = view(started(builds=["2.9.0.dev20260301+cu130", "2.9.0.dev20260302+cu130"]))
    assert ">03-01</text>" in seen.picture


def test_words_of_a_repro_are_escaped_in_the_picture() -> None:
    seen = view(started([["<b>", "test"]]), known("1.0", "failing", "<script>", case="<b>"))
    assert "<b>" not in seen.picture
    assert "<script>" not in seen.picture
