"""Everything that CI checks, in the order of how fast it fails. Arguments go to pytest."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS = (
    ("format", ("ruff", "format", "--check", "--quiet", ".")),
    ("lint", ("ruff", "check", "--quiet", ".")),
    ("import contracts", ("lint-imports",)),
    ("types", ("mypy",)),
    ("docs", ("python", "tools/generate_docs.py", "--check")),
    (
        "specs",
        (
            "bisect",
            "check",
            "--no-plan",
            *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("repro_specs/*/spec.yaml")),
        ),
    ),
)


def main() -> int:
    """Run every check, also after a failed one; pytest comes last, so that its closing line closes the output."""
    failed = [name for name, command in CHECKS if not run(name, command)]
    # All tests on all cores; a choice of tests is run as it was asked for.
    words = sys.argv[1:] or ["--numprocesses", "auto", "--dist", "worksteal"]
    tests = subprocess.run([str(BIN / "python"), "-m", "pytest", *words], cwd=ROOT, check=False).returncode
    if failed:
        print(f"failed before the tests: {', '.join(failed)}", file=sys.stderr)  # noqa: T201
    return tests or bool(failed)


def run(name: str, command: tuple[str, ...]) -> bool:
    """Run one check; its output shows only when it fails."""
    started = time.monotonic()
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, check=False, capture_output=True, text=True)
    word = "ok" if done.returncode == 0 else "FAILED"
    print(f"{name:<18} {word} ({time.monotonic() - started:.1f} s)", flush=True)  # noqa: T201
    if done.returncode != 0:
        print(done.stdout + done.stderr, flush=True)  # noqa: T201
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
