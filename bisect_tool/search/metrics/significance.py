"""The tests that Pinpoint uses, for the report: could both samples come from one distribution?

No decision hangs on these p-values: they are those of one look, and a comparison looks several times (see `looks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Significance:
    """Two-sided p-values of the tests of Mann and Whitney (location) and of Kolmogorov and Smirnov (any difference)."""

    mann_whitney: float
    kolmogorov_smirnov: float


def significance(reference: Sequence[float], build: Sequence[float]) -> Significance:
    """The p-values of two samples, none of them empty; exact where there are few samples and no ties."""
    from scipy import stats  # half a second

    if len({*reference, *build}) == 1:
        return Significance(1.0, 1.0)  # the normal approximation for ties divides by the spread, which is 0
    return Significance(
        float(stats.mannwhitneyu(reference, build).pvalue),
        float(stats.ks_2samp(reference, build).pvalue),
    )
