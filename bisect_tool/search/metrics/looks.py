"""When the samples of a comparison are looked at, and how far from chance they must be each time.

Looking again and again at growing samples finds something in the end, whether it is there or not. So the chance of a
false word is shared out: over two tests, because each sees what the other does not, and over the looks of each. With n
pairs of samples, one of the reference and one of the build each,

- the statistic U of Mann and Whitney (1947) counts the pairs, one sample of any of the n of each side, of which the
  build's is the smaller; all orders of the 2n samples are equally likely when nothing has changed;
- the statistic W of Wilcoxon (1945) adds up the ranks of the pairs of which the build's sample is the smaller; all signs
  of the n ranks are equally likely. It looks only inside pairs, so that a machine that gets slower does not blur it.

`between` and `paired` are the largest values of each that count at a look, by chances that are counted exactly. All of
them add up to at most `DOUBT`, and the chance that any look errs is never more than their sum, however they depend on
each other. The looks come at sizes that grow by about two fifths each time, so that few of them share the doubt. What a
look cannot use, because the statistics are whole numbers, the next ones get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, log

DOUBT = 0.005  # of each of the two words, "same" and "different"; together 1 %
GROWTH = 1.4


@dataclass(frozen=True, slots=True)
class Look:
    """With `size` pairs; `between` is the largest U and `paired` the largest W that counts, -1 when none does."""

    size: int
    between: int
    paired: int


@lru_cache(maxsize=64)
def looks(least: int, most: int) -> tuple[Look, ...]:
    """The looks of a comparison with `least` to `most` pairs, 1 <= `least` <= `most`."""
    steps = max(1, round(log(most / least, GROWTH)))
    sizes = sorted({round(least * (most / least) ** (step / steps)) for step in range(steps + 1)})
    between = _criticals(sizes, DOUBT / 2, orders)
    paired = _criticals(sizes, DOUBT / 2, signs)
    return tuple(Look(*parts) for parts in zip(sizes, between, paired, strict=True))


def _criticals(sizes: Sequence[int], doubt: float, count: Callable[[int], tuple[Sequence[int], int]]) -> list[int]:
    """The critical value of each look of one test; `count` gives the ways to each statistic, and those to any."""
    found: list[int] = []
    left = doubt
    for number, size in enumerate(sizes):
        ways, total = count(size)
        share = left / (len(sizes) - number)
        # The first look can say something about a large change when it may use the smallest chance that it has.
        if number == 0 and share < 1 / total <= doubt / 2:
            share = 1 / total
        critical, used = _critical(ways, total, share)
        found.append(critical)
        left -= used
    return found


def _critical(ways: Sequence[int], total: int, chance: float) -> tuple[int, float]:
    """The largest statistic that is reached or undercut with at most `chance` (below a half), and that chance."""
    below = 0
    for statistic, of_this in enumerate(ways):
        if (below + of_this) / total > chance:
            return statistic - 1, below / total
        below += of_this
    raise ValueError(f"a chance of {chance} is above a half")


def orders(size: int) -> tuple[Sequence[int], int]:
    """In how many orders of two samples of `size` each U from 0 to beyond its middle comes about, and how many there are.

    The generating function is a Gaussian binomial coefficient: the product of (1 - x^(size+i)) / (1 - x^i), i = 1 … size.
    """
    middle = size * size // 2 + 1
    ways = [1] + [0] * middle
    for i in range(1, size + 1):
        for power in range(middle, size + i - 1, -1):
            ways[power] -= ways[power - size - i]
        for power in range(i, middle + 1):
            ways[power] += ways[power - i]
    return ways, comb(2 * size, size)


def signs(size: int) -> tuple[Sequence[int], int]:
    """With how many signs of `size` ranks each W from 0 to beyond its middle comes about, and how many there are.

    The generating function is the product of 1 + x^i, i = 1 … size.
    """
    middle = size * (size + 1) // 4 + 1
    ways = [1] + [0] * middle
    for i in range(1, size + 1):
        for power in range(middle, i - 1, -1):
            ways[power] += ways[power - i]
    return ways, 2**size
