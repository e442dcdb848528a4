"""Write the golden files anew: `python -m tests.cli.regenerate`. Read the difference before you keep it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.cli.sessions import GOLDEN, names, transcript


def main() -> None:
    """Run every session in a folder of its own."""
    for name in names():
        with tempfile.TemporaryDirectory() as folder:
            (GOLDEN / f"{name}.out").write_text(transcript(name, Path(folder)))


if __name__ == "__main__":
    main()
