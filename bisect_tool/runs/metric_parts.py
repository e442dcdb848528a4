"""What a comparison of numbers puts into the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bisect_tool.reports.report import MetricPart
from bisect_tool.runs.comparing import Compared
from bisect_tool.runs.session import SeenTrial
from bisect_tool.search.metrics.comparison import Different, Same, Undecided
from bisect_tool.search.metrics.significance import significance


def metric_parts(trials: Sequence[SeenTrial], reference: str) -> tuple[MetricPart, ...]:
    """The numbers of the last comparison among the trials of one case on one build; `reference` is the other build."""
    compared = next((trial.compared for trial in reversed(trials) if trial.compared), ())
    return tuple(_part(one, reference) for one in compared)


def _part(compared: Compared, reference: str) -> MetricPart:
    estimate, metric = compared.finding.estimate, compared.metric
    found = significance(compared.reference, compared.build)
    return MetricPart(
        name=metric.name,
        unit=metric.unit,
        state=_word(compared.finding),
        limit=metric.ratio,
        reference=reference,
        ratio=estimate.ratio,
        low=estimate.low,
        high=estimate.high,
        reference_median=estimate.reference,
        build_median=estimate.build,
        samples=estimate.samples,
        mann_whitney=found.mann_whitney,
        kolmogorov_smirnov=found.kolmogorov_smirnov,
    )


def _word(finding: Same | Different | Undecided) -> Literal["same", "different", "undecided"]:
    match finding:
        case Same():
            return "same"
        case Different():
            return "different"
        case Undecided():
            return "undecided"
