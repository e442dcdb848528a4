"""Print the first or second of the two commands that stand on the first screen of the README."""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def commands(text: str) -> list[str]:
    """The lines of the first fenced block that is marked `sh`, without comments."""
    block = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = block.group(1).splitlines() if block else []
    return [line.split("  #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


if __name__ == "__main__":
    print(commands(README.read_text(encoding="utf-8"))[int(sys.argv[1]) - 1])  # noqa: T201
