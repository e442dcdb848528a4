"""Lifts the recursion limit and recurses through C: SIGSEGV, or RecursionError from Python 3.12 on."""

from __future__ import annotations

import resource
import sys

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.setrecursionlimit(2**31 - 1)


def deeper(_: int) -> list[object]:
    return list(map(deeper, [0]))


deeper(0)
