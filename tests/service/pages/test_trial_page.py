from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from bisect_tool.service.evidence import Trial
from bisect_tool.service.pages.trial_page import MOST_OUTPUT, TrialPage, trial_page
from tests.reports import samples
from tests.service.pages.test_question_page import QUESTION

TRIAL = Trial(
    number=7, case="inductor", build="2.12.0", device="cpu", state="failing", reason=None, failures=(),
    finished="2026-11-30T18:00:00+00:00", seconds=4.2, command="python repro.py", exit_status=1, signal=None, timed_out=False,
    peak_memory=None, output="", environment=None, log=None, log_here=False,
)  # fmt: skip


def page(*trials: Trial) -> TrialPage:
    return trial_page(QUESTION, "inductor", "2.12.0", trials, samples.exact())


@pytest.mark.parametrize(
    ("trial", "told"),
    [
        (TRIAL, "exit status 1 after 4.2 s"),
        (replace(TRIAL, exit_status=None, signal=int(signal.SIGSEGV)), "by SIGSEGV after 4.2 s"),
        (replace(TRIAL, exit_status=None, signal=250), "by signal 250 after 4.2 s"),
        (replace(TRIAL, exit_status=None, signal=9, timed_out=True), "by the tool, out of time after 4.2 s"),
    ],
)
def test_how_it_ended(trial: Trial, told: str) -> None:
    assert dict(page(trial).trials[0].facts)["Ended"] == told


def test_the_state_is_that_of_the_report() -> None:
    shown = page()
    assert shown.chip is not None
    assert (shown.chip.word, shown.date) == ("failing", "2026-01-06")


def test_a_log_is_a_link_only_where_it_is() -> None:
    here, elsewhere = page(replace(TRIAL, log_here=True), replace(TRIAL, log="s3://logs/7/log.txt")).trials
    assert (here.log, dict(here.facts).get("Log")) == (f"/q/{QUESTION.id}/logs/7", None)
    told = "s3://logs/7/log.txt (kept where this server does not read)"
    assert (elsewhere.log, dict(elsewhere.facts)["Log"]) == (None, told)


def test_of_a_long_output_the_ends_are_shown() -> None:
    shown = page(replace(TRIAL, output="a" * MOST_OUTPUT + "b" * 10)).trials[0].output
    assert "[… 10 characters left out …]" in shown
    assert shown.endswith("b" * 10)


def test_the_environment_is_facts_and_packages() -> None:
    health = {
        "version": "2.12.0",
        "packages": {"triton": "3.7.0", "numpy": "2.3"},
        "facts": {"cuda": "13.0", "nothing": None},
    }
    shown = page(TRIAL, replace(TRIAL, environment=health))
    assert shown.environment == (("version", "2.12.0"), ("cuda", "13.0"))
    assert shown.packages == (("numpy", "2.3"), ("triton", "3.7.0"))


def test_terminal_escapes_of_a_repro_are_not_shown() -> None:
    assert page(replace(TRIAL, output="\x1b[31mred\x1b[0m\x00")).trials[0].output == "red"
