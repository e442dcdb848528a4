"""Calling git: one place that knows how to keep it from the network, from the user's settings and from the terminal.

A partial clone fetches what it lacks in passing, which may be gigabytes. Newer versions of git know GIT_NO_LAZY_FETCH;
older ones are kept from it by allowing no way to any remote (GIT_ALLOW_PROTOCOL). Only commands that read are called.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bisect_tool.errors import HistoryUnavailable

SECONDS = 300.0
_OWN = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# The first: the user named the folder, so whose it is does not matter, as nothing that only reads runs what it has set up.
# The others: what the settings of the repository could do to the output; `-c` wins over them.
_SETTINGS = (
    "safe.directory=*",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "log.showSignature=false",
    "log.follow=false",
)
_LACKS = re.compile(r"transport '\w+' not allowed|promisor|bad object|missing (?:blob|tree|commit)|unable to read")
_NO_REPOSITORY = re.compile(r"not a git repository|cannot change to")


class GitFailed(Exception):
    """git ended with another status than 0; `said` is what it printed."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


class CloneLacks(HistoryUnavailable):
    """The clone does not have an object that was asked for; a partial clone would have asked its server."""


@dataclass(frozen=True, slots=True)
class Git:
    """The program git, reading the repository in `folder`. `environ` is what the tool itself was started with."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)

    def call(self, *words: str, given: str = "") -> bytes:
        """What git prints.

        Raises:
            GitFailed: it ended with another status than 0.
            HistoryUnavailable: git cannot be started, took too long, or the clone lacks objects that were asked for.
        """
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = ["git", "--no-pager", "-C", str(self.folder), *settings, *words]
        try:
            done = subprocess.run(
                command,
                input=given.encode("utf-8", "surrogateescape"),
                capture_output=True,
                check=False,
                env=self._environment(),
                timeout=SECONDS,
            )
        except OSError as error:
            raise HistoryUnavailable(
                f"git cannot be started: {error.strerror or error}",
                where="git",
                advice="install git, or leave --repo out",
            ) from error
        except subprocess.TimeoutExpired as error:
            raise self._unavailable(
                f"git {words[0]} took longer than {SECONDS:.0f} s", "look at the disk of the clone"
            ) from error
        if done.returncode:
            raise self._failed(done.returncode, done.stderr.decode("utf-8", "replace").strip())
        return done.stdout

    def _failed(self, status: int, said: str) -> Exception:
        if _NO_REPOSITORY.search(said):
            return self._unavailable("there is no git repository", "give the folder of a clone")
        if _LACKS.search(said):
            advice = "run `git fetch` there; a clone without trees needs `git fetch --refetch --filter=blob:none`"
            what = "the clone lacks a part of the history that is needed"
            return CloneLacks(what, where=str(self.folder), advice=advice)
        return GitFailed(status, said)

    def _unavailable(self, what: str, advice: str) -> HistoryUnavailable:
        return HistoryUnavailable(what, where=str(self.folder), advice=advice)

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in self.environ.items() if not key.startswith("GIT_") and key != "LANGUAGE"}
        return kept | _OWN
