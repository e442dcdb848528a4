"""Serve a repository until interrupted: ``python -m tests.rig.github REPOSITORY --name pytorch/pytorch --port 0``."""

from __future__ import annotations

import argparse
import contextlib
import threading
from pathlib import Path

from tests.rig.github.server import serve


def main() -> None:
    """Print the address of the API and wait."""
    parser = argparse.ArgumentParser(prog="python -m tests.rig.github")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--name", default="pytorch/pytorch")
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args()
    with serve(chosen.repository, name=chosen.name, port=chosen.port) as github, contextlib.suppress(KeyboardInterrupt):
        print(github.url, flush=True)
        threading.Event().wait()


main()
