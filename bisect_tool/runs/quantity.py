"""The number of a trial that a metric is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median

from bisect_tool.spec.model import Metric
from bisect_tool.trials.observation import Observation

# What every trial has, whether its script reports anything or not.
OWN: Mapping[str, Callable[[Observation], float | None]] = {
    "duration_s": lambda observation: observation.duration,
    "peak_memory_bytes": lambda observation: observation.peak_memory,
}


def number_of(observation: Observation, metric: Metric) -> float | str:
    """The number, positive, or why there is none. Of several reports in one trial the median counts.

    The trials are independent of each other, the repetitions inside one process are not.
    """
    reported = [check.value for check in observation.checks if check.name == metric.name and check.value is not None]
    own = OWN.get(metric.name)
    if own is not None and reported:
        return f"the script reports `{metric.name}`, which is what every trial has of its own: give it another name"
    if own is not None:
        reported = [value for value in (own(observation),) if value is not None]
    if not reported:
        return f"no number `{metric.name}` was {'measured' if own else 'reported'}"
    number = max(median(reported), metric.floor or 0.0)
    if number <= 0:
        return f"`{metric.name}` is {number:g}, of which there is no ratio: give the metric a `floor`"
    return number
