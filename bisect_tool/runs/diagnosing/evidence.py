"""What a diagnosis keeps in its folder: logs of code, their difference, the minifier's files, the state of the bisector."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.runs.diagnosing.bisector import restore_state, state_files
from bisect_tool.runs.diagnosing.code_text import STAGES
from bisect_tool.trials.left_files import left_files, read_left, write_anew

LOGS = ",".join(STAGES)
LARGEST_LOG = 64 * 1024 * 1024  # bytes of a log that are looked at
LAUNCHER = "minifier_launcher.py"
_LEFT = ("repro.py", LAUNCHER)  # what the minifier left in the end, and what it starts from


@dataclass(frozen=True, slots=True)
class Evidence:
    """The folder of one failure of one case on one build; it is made where needed."""

    folder: Path

    def code_log(self, build: str) -> Path:
        """Where torch writes its graphs and code on a build."""
        return self._made("code") / f"{_plain(build)}.log"

    def code_of(self, build: str) -> str:
        """The log of a build; empty when torch wrote none."""
        try:
            path = self.code_log(build)
            return read_left(path.parent, path.name, LARGEST_LOG).decode("utf-8", "replace")
        except OSError:
            return ""

    def keep_diff(self, diff: str) -> None:
        """The unified diff, beside the logs."""
        write_anew(self._made("code") / "code.diff", diff + "\n")

    @property
    def minifier(self) -> Path:
        """Where the minifier writes."""
        return self._made("minifier")

    def is_minified(self) -> bool:
        """Whether the minifier has had its time."""
        return "ended" in left_files(self.minifier, "ended")

    def note_minified(self) -> None:
        """It has."""
        write_anew(self.minifier / "ended", "")

    def launcher(self) -> Path | None:
        """The newest program that torch left to start the minifier with, None when it left none."""
        return self._newest(LAUNCHER)

    def minified(self) -> Path | None:
        """The smallest program that the minifier left, None when it left none."""
        return next((path for path in map(self._newest, _LEFT) if path is not None), None)

    def _newest(self, name: str) -> Path | None:
        found = [self.minifier / one for one in left_files(self.minifier, name)]
        found = [path for path in found if path.name == name and "checkpoints" not in path.parts]
        return max(found, key=lambda path: path.lstat().st_mtime, default=None)

    def step_file(self, name: str) -> Path:
        """Where the state after one step of the compiler bisector is kept."""
        return self._made("bisector") / f"{_plain(name)}.json"

    def keep_step(self, name: str, state: Path, root: Path, applications: Path) -> None:
        """Keep the bisector's state as a trial left it somewhere in `root`, and what it wrote about applications."""
        path = self.step_file(name)
        with suppress(FileNotFoundError):
            content = read_left(applications.parent, applications.name, LARGEST_LOG)
            path.with_suffix(".applications.txt").write_bytes(content)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(state_files(state, root), indent=1))
        part.replace(path)

    def applications_of(self, name: str) -> str:
        """What a step wrote about applications; empty when it wrote nothing."""
        try:
            return self.step_file(name).with_suffix(".applications.txt").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def restore_step(self, name: str, state: Path, root: Path) -> None:
        """Put it back, so that the bisector goes on as if the trial had just run."""
        files: Mapping[str, str] = json.loads(self.step_file(name).read_text())
        restore_state(state, files, root)

    def keep_summary(self, text: str) -> None:
        """The diagnosis as JSON."""
        (self._made() / "diagnosis.json").write_text(text + "\n", encoding="utf-8")

    def _made(self, name: str = ".") -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", name)
