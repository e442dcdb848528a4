"""Build the image by hand, try it, and say what it weighs: `python -m tests.image [--target NAME …] [--keep FOLDER]`.

Needs root, `unshare`, `mmdebstrap` (Debian: `apt-get install mmdebstrap`), and the machine's own mirrors of Debian and of
Python packages. Nothing of the Dockerfile is written down here a second time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.image.building import Builder, Built, StepFailed
from tests.image.clean_root import NoBase, make_root
from tests.image.dockerfile import NotUnderstood
from tests.image.trying import Trying, Wrong

CHECKOUT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Build, try, print. The status is 1 when anything fails, and says what."""
    asked = argparse.ArgumentParser(prog="python -m tests.image", description=__doc__)
    asked.add_argument(
        "--target", action="append", metavar="NAME", help="a stage that is wanted: bisect (the default), ray"
    )
    asked.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the roots in this folder")
    words = asked.parse_args()
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "mmdebstrap"))):
        print("needs root, unshare and mmdebstrap", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="bisect-image-") as name:
        try:
            report(words.target or ["bisect"], Path(name), words.keep)
        except (NoBase, NotUnderstood, StepFailed, Wrong) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1
    return 0


def report(targets: Sequence[str], place: Path, keep: Path | None) -> None:
    """Build the targets in `place` and try them; print each step, each check and the sizes."""
    place.chmod(0o755)  # other users go through it to their volumes
    builder = Builder(CHECKOUT, place / "stages", make_root, tell)
    for target in targets:
        started = time.monotonic()
        built = builder.build(target)
        tell(f"{target}: built in {time.monotonic() - started:.0f} s")
        for name, value in sizes(built).items():
            tell(f"  {name:<24} {value / 1e6:7.1f} MB")
        for check, seconds, says in Trying(built, place / f"trying-{target}").all():
            tell(f"ok {seconds:6.1f} s  {check}: {says}")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for target in targets:
            shutil.move(builder.built[target].root, keep / target)


def tell(line: str) -> None:
    """Print a line at once, also into a file."""
    print(line, flush=True)


def sizes(built: Built) -> dict[str, int]:
    """Bytes of the root on disk, of its largest parts, and compressed as a registry would keep it."""
    parts = {"root on disk": "/", "/opt/bisect": "/opt/bisect", "/usr": "/usr"}
    found = {name: _used(built.root / part.lstrip("/")) for name, part in parts.items()}
    words = f"tar --create --one-file-system --directory {built.root} . | gzip -3 | wc --bytes"
    found["compressed (gzip)"] = int(
        subprocess.run(words, shell=True, check=True, capture_output=True, text=True).stdout
    )
    return found


def _used(folder: Path) -> int:
    done = subprocess.run(
        ["du", "--summarize", "--block-size=1", str(folder)], check=True, capture_output=True, text=True
    )
    return int(done.stdout.split()[0])


if __name__ == "__main__":
    sys.exit(main())
