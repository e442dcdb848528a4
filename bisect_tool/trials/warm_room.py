"""The sandbox of a process that trials are forked from, and how the folder of each trial gets into it.

A sandbox is set up once, when nobody knows yet which trials will run in it. So it has a folder of its own in the place where
trials lie, and the folder of a trial is moved there while the trial runs: inside, it has the path that it has outside. What a
trial could do to the folder of its server is undone each time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bisect_tool.environments.sandbox import Sandbox, View, own_interpreter
from bisect_tool.environments.sandbox_walls import IN_MEMORY
from bisect_tool.trials.leftovers import empty_folder, remove_folder
from bisect_tool.trials.process import Walls


@dataclass(frozen=True, slots=True)
class Room:
    """What a forked trial may see: `view`, and its own folder `trial`."""

    sandbox: Sandbox
    view: View
    trial: Path

    @property
    def key(self) -> str:
        """The same for trials that may come from one process."""
        return repr((self.view, self.trial.parent))

    def stay(self, scratch: Path) -> Path:
        """A folder for the trials of a new process; `scratch` lies on the disk of the cache, and is made."""
        scratch.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="warm-", dir=scratch))

    def walls(self, now: Path, stay: Path) -> Walls:
        """The walls of a new process: `now` is its folder for caches, `stay` that for trials."""
        view = replace(self.view, written=(*self.view.written, now), placed=((stay, self.trial.parent),))
        return Walls(tuple(self.sandbox.words(view, "--as-pid-1")), own_interpreter(), IN_MEMORY)

    @contextmanager
    def moved(self, stay: Path) -> Iterator[None]:
        """The folder of the trial lies in `stay` meanwhile. Raises `OSError`."""
        inside = stay / self.trial.name
        shutil.move(self.trial, inside)
        try:
            yield
        finally:
            if inside.is_symlink() or not inside.is_dir():
                remove_folder(inside)
                inside.unlink(missing_ok=True)
                inside.mkdir()
            shutil.move(inside, self.trial)
            empty_folder(stay)
