"""How likely each commit of a range is the culprit, from the points of the ranking (`suspects`). Pure.

Points are made for an order, not as chances: sixty commits that share a word with the repro have more points together than
the one that has three. Among real regressions the share of culprits within the first r of n suspects grows about as (r / n) to
the power of 0.2, whatever the range; so a suspect gets what its rank adds to that, times its points. Chosen and measured in
`tests/benchmarks/suspects/year.py`, on different cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

GROWTH = 0.2


def likelihoods(points: Mapping[str, float], commits: int) -> dict[str, float]:
    """A weight for each commit that has points, the most for the first; `commits` are all of the range.

    Commits with the same points share what their ranks add. Commits without points have no weight: it is for the search to
    provide for what the ranking does not see.
    """
    above, shares = 0, {}
    for height, count in sorted(Counter(points.values()).items(), reverse=True):
        added = ((above + count) / commits) ** GROWTH - (above / commits) ** GROWTH
        shares[height] = height * added / count
        above += count
    return {sha: shares[height] for sha, height in points.items()}
