"""Make the checkout usable in its .venv: a path file and the console script, as an editable install would leave them."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Write both files; existing ones are replaced."""
    packages = Path(sysconfig.get_path("purelib"))
    (packages / "bisect_checkout.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    script = Path(sysconfig.get_path("scripts")) / "bisect"
    script.write_text(
        f"#!{sys.executable}\nfrom bisect_tool.cli import main\n\nmain()\n",
        encoding="utf-8",
    )
    script.chmod(0o755)


if __name__ == "__main__":
    main()
