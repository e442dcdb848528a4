"""A process in a root folder, apart from the machine in processes, mounts and, where it is to be offline, network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENTER = Path(__file__).with_name("enter.py")


@dataclass(frozen=True, slots=True)
class Container:
    """A root folder and how programs run in it. `volumes`: folders of the machine by the place where they appear inside."""

    root: Path
    environ: Mapping[str, str]
    folder: str = "/"
    user: str = "0:0"
    volumes: Mapping[str, Path] = field(default_factory=dict)
    read_only: bool = False
    offline: bool = False

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a program as process 1 of its own tree, its output in one pipe; whatever it leaves is killed with it."""
        return subprocess.Popen(self.command(*words), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *words: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        return subprocess.run(self.command(*words), text=True, capture_output=True, timeout=timeout, check=False)

    def command(self, *words: str) -> list[str]:
        """The words that start it from outside."""
        order = {
            "root": str(self.root),
            "words": words,
            "environ": dict(self.environ),
            "folder": self.folder,
            "user": self.user,
            "volumes": {inside: str(outside) for inside, outside in self.volumes.items()},
            "read_only": self.read_only,
            "offline": self.offline,
        }
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if self.offline else [])]
        return [*apart, sys.executable, str(ENTER), json.dumps(order)]
