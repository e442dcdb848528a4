"""Whether a failure on files of one commit over the binaries of another says that the two do not fit. Pure.

Python that needs something which the binaries do not have (or which has another form there) says so by name, mostly while it
is imported (measured on real releases: `docs/commits.md`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bisect_tool.trials.failure import FoundFailure

_MISFIT = re.compile(
    r"cannot import name '[^']*' from '(?:torch|torchgen|functorch)(?:\.[\w.]*)?'|"
    r"No module named '(?:torch|torchgen|functorch)[.']|"
    r"module 'torch(?:\._C[\w.]*)?' has no attribute|"
    r"type object 'torch\._C[\w.]*' has no attribute|"
    r"'torch\._C[\w.]*' object has no attribute|"
    r"'_OpNamespace' '\w+' object has no attribute|"
    r"incompatible (?:function|constructor) arguments\. The following argument types are supported|"
    r"undefined symbol"
)


def misfit(failures: Iterable[FoundFailure], shown: frozenset[str]) -> str | None:
    """The line that says that an overlay is not valid, None when no failure does.

    `shown` are the failures that a build with its own files has: those are real, whatever they say.
    """
    for failure in failures:
        if failure.id not in shown and (found := _MISFIT.search(failure.text)):
            line = failure.text[failure.text.rfind("\n", 0, found.start()) + 1 :].split("\n", 1)[0]
            return line.strip()[:300]
    return None
