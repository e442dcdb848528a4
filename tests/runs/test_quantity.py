from __future__ import annotations

import pytest

from bisect_tool.runs.quantity import number_of
from bisect_tool.spec.model import Metric
from bisect_tool.trials.observation import Check, Observation


def latency(floor: float | None = None) -> Metric:
    return Metric(name="latency_ms", ratio=1.1, floor=floor)


def observed(*values: float, name: str = "latency_ms") -> Observation:
    checks = tuple(Check(name, value=value) for value in values)
    return Observation(0, checks=checks, duration=2.5, peak_memory=70_000_000)


def test_the_median_of_what_one_trial_reports() -> None:
    assert number_of(observed(12.5), latency()) == 12.5
    assert number_of(observed(30.0, 10.0, 11.0), latency()) == 11.0


def test_what_every_trial_has() -> None:
    assert number_of(observed(), Metric(name="duration_s", ratio=1.1)) == 2.5
    assert number_of(observed(), Metric(name="peak_memory_bytes", ratio=1.1)) == 70_000_000


def test_a_check_without_a_number_is_none() -> None:
    observation = Observation(0, checks=(Check("latency_ms", ok=True), Check("other", value=1.0)))
    assert number_of(observation, latency()) == "no number `latency_ms` was reported"


def test_memory_that_was_not_measured() -> None:
    metric = Metric(name="peak_memory_bytes", ratio=1.1)
    assert number_of(Observation(0), metric) == "no number `peak_memory_bytes` was measured"


def test_a_name_of_ours_cannot_be_reported() -> None:
    found = number_of(observed(3.0, name="duration_s"), Metric(name="duration_s", ratio=1.1))
    assert found == "the script reports `duration_s`, which is what every trial has of its own: give it another name"


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_a_number_without_a_ratio(value: float) -> None:
    assert "give the metric a `floor`" in str(number_of(observed(value), latency()))
    assert number_of(observed(value), latency(floor=0.5)) == 0.5
