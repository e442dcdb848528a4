"""Whether tests of the sandbox can run here. With BISECT_TESTS_SANDBOX=required they fail instead of being skipped."""

from __future__ import annotations

import os

import pytest

from bisect_tool.environments.sandbox import find_sandbox
from bisect_tool.environments.sandbox_faults import SandboxBroken


def _why_not() -> str:
    if os.environ.get("BISECT_TESTS_SANDBOX") == "required":
        return ""
    try:
        find_sandbox(os.environ)
    except SandboxBroken as broken:
        return f"no sandbox here: {broken.what}"
    return ""


needs_sandbox = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "there is one")
