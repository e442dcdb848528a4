"""What a run says that looked for a failure and saw none at all: perhaps it needs another device, dtype or variable. Pure."""

from __future__ import annotations

import shlex

from bisect_tool.runs.asking import Asked


def offer(asked: Asked) -> str | None:
    """The command that looks for a configuration; None where no failure was expected, or numbers are compared."""
    spec = asked.read.spec
    if spec.metrics or not (spec.failures or spec.issue or spec.title):
        return None
    command = shlex.join(["bisect", "try", str(asked.read.path), "--discover"])
    return (
        f"nothing fails on any build that was tested: `{command}` looks for a device, dtype, dynamic shapes, caches or "
        "variables under which it does"
    )
