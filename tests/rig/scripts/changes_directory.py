"""Changes to the root directory, where it may write nothing, and exits with 0."""

from __future__ import annotations

import os

os.chdir("/")
print("now in", os.getcwd())  # noqa: PTH109
