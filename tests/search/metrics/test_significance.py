from __future__ import annotations

import pytest

from bisect_tool.search.metrics.significance import Significance, significance


def test_samples_that_do_not_overlap() -> None:
    found = significance([1, 2, 3, 4, 5, 6], [11, 12, 13, 14, 15, 16])
    assert found.mann_whitney == pytest.approx(2 / 924)
    assert found.kolmogorov_smirnov == pytest.approx(2 / 924)


def test_the_same_middle_and_another_spread() -> None:
    narrow = [100 + number / 100 for number in range(-10, 10)]
    wide = [100 + number + 0.005 for number in range(-10, 10)]
    found = significance(narrow, wide)
    assert found.mann_whitney > 0.8
    assert found.kolmogorov_smirnov < 0.02


def test_equal_numbers_are_no_evidence() -> None:
    assert significance([5.0] * 6, [5.0] * 6) == Significance(1.0, 1.0)
