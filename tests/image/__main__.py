"""Build the image by hand, try it, and say what it weighs: `python -m tests.image [--target bisect] [--keep FOLDER]`.

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
from pathlib import Path

from tests.image.building import Builder, Built, StepFailed
from tests.image.clean_root import NoBase, make_root
from tests.image.dockerfile import NotUnderstood
from tests.image.trying import Trying, Wrong

CHECKOUT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Build, try, print. The status is 1 when anything fails, and says what."""
    asked = argparse.ArgumentParser(prog="python -m tests.image", description=__doc__)
    asked.add_argument("--target", default="bisect", help="the stage that is wanted (bisect)")
    asked.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the root here")
    words = asked.parse_args()
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "mmdebstrap"))):
        print("needs root, unshare and mmdebstrap", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="bisect-image-") as name:
        try:
            report(words.target, Path(name), words.keep)
        except (NoBase, NotUnderstood, StepFailed, Wrong) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1
    return 0


def report(target: str, place: Path, keep: Path | None) -> None:
    """Build `target` in `place` and try it; print each step, each check and the sizes."""
    started = time.monotonic()
    built = Builder(CHECKOUT, place / "stages", make_root).build(target)
    print(f"built in {time.monotonic() - started:.0f} s")
    for name, value in sizes(built).items():
        print(f"  {name:<24} {value / 1e6:7.1f} MB")
    (place / "trying").mkdir()
    place.chmod(0o755)
    for check, seconds, says in Trying(built, place / "trying" / "toys").all():
        print(f"ok {seconds:6.1f} s  {check}: {says}", flush=True)
    if keep is not None:
        shutil.move(built.root, keep)


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
