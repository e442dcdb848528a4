from __future__ import annotations

from math import comb

import pytest
from scipy import stats

from bisect_tool.search.metrics.looks import DOUBT, Look, looks, orders, signs

SCHEDULES = [(6, 6), (6, 30), (10, 40), (30, 30)]


def with_u(size: int, statistic: int) -> tuple[list[float], list[float]]:
    """Two samples without ties; U of the first is `statistic`."""
    beyond = [statistic // size + (number < statistic % size) for number in range(size)]
    first = [count - 0.5 + number / 1000 for number, count in enumerate(beyond)]
    return first, [float(number) for number in range(size)]


def with_w(size: int, statistic: int) -> list[float]:
    """Differences without ties; the positive ranks add up to `statistic`."""
    signed, left = [], statistic
    for rank in range(size, 0, -1):
        signed.append(float(rank if rank <= left else -rank))
        left -= rank if rank <= left else 0
    return signed


def chance_of_u(size: int, statistic: int) -> float:
    first, second = with_u(size, statistic)
    found = stats.mannwhitneyu(first, second, alternative="less", method="exact")
    assert found.statistic == statistic
    return float(found.pvalue)


def chance_of_w(size: int, statistic: int) -> float:
    found = stats.wilcoxon(with_w(size, statistic), alternative="less", method="exact")
    assert found.statistic == statistic
    return float(found.pvalue)


def test_the_usual_looks() -> None:
    assert [look.size for look in looks(6, 30)] == [6, 8, 11, 16, 22, 30]
    assert looks(6, 30)[0] == Look(6, between=0, paired=-1)


def test_one_look_gets_all_of_the_doubt() -> None:
    # 1 and 2 of 924 orders: U of at most 1 has the chance 0.0022, of at most 2 it has 0.0043.
    assert looks(6, 6) == (Look(6, between=1, paired=-1),)


def test_six_pairs_are_the_fewest_that_can_decide() -> None:
    assert looks(5, 5)[0].between == looks(5, 5)[0].paired == -1


@pytest.mark.parametrize(("least", "most"), SCHEDULES)
def test_the_chances_of_all_looks_add_up_to_the_doubt(least: int, most: int) -> None:
    found = looks(least, most)
    spent = sum(chance_of_u(look.size, look.between) for look in found if look.between >= 0)
    spent += sum(chance_of_w(look.size, look.paired) for look in found if look.paired >= 0)
    assert spent <= DOUBT
    assert spent > DOUBT * 0.8 or most == 6


@pytest.mark.parametrize("size", [3, 5, 9])
def test_orders_are_all_orders(size: int) -> None:
    ways, total = orders(size)
    assert total == comb(2 * size, size)
    assert ways[:4] == [1, 1, 2, 3][: len(ways)]


def test_signs_of_four_ranks() -> None:
    # 0; 1; 2; 3 or 1+2; 4 or 1+3; 1+4 or 2+3; …
    assert signs(4) == ([1, 1, 1, 2, 2, 2, 2], 16)
