"""Servers and workers of one database, as processes that are killed and started again."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.integration.conftest import Place

PATIENCE = 90  # seconds that a process has to end when it is asked to
UNBEGUN = (-signal.SIGTERM, 130)  # before and after the command line has begun to listen for signals


@dataclass
class Member:
    """A process: a worker, or a server that listens at `port`. `since` is when it was started, by the monotonic clock."""

    kind: str
    process: subprocess.Popen[bytes]
    since: float
    port: int | None = None


@dataclass
class Crowd:
    """The processes; `words` are flags of all of them. `killed` counts what was killed when.

    `is_known` tells whether a process has told the database that it is there.
    """

    place: Place
    words: tuple[str, ...]
    is_known: Callable[[int], bool]
    members: list[Member] = field(default_factory=list)
    killed: Counter[tuple[str, str]] = field(default_factory=Counter)
    _struck: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return self.killed.total()

    @property
    def servers(self) -> list[Member]:
        """The servers."""
        return [one for one in self.members if one.kind == "server"]

    def add_worker(self) -> None:
        """Start a worker."""
        self.members.append(self._started("worker", None))

    def add_server(self, port: int) -> None:
        """Start a server, with a worker in it."""
        self.members.append(self._started("server", port))

    def strike(self, pid: int, moment: str) -> bool:
        """SIGKILL to one of them, from any thread; `revive` puts another one in its place. False: it is not there."""
        with self._lock:
            member = next((one for one in self.members if one.process.pid == pid), None)
            if member is None or pid in self._struck or member.process.poll() is not None:
                return False
            self._struck.add(pid)
            member.process.kill()
            self.killed[member.kind, moment] += 1
            return True

    def strike_at(self, port: int, moment: str) -> bool:
        """The same to the one that has a connection from this port of its side."""
        for member in tuple(self.members):
            with suppress(psutil.Error):
                own = psutil.Process(member.process.pid).net_connections("tcp")
                if any(one.laddr[1] == port for one in own):
                    return self.strike(member.process.pid, moment)
        return False

    def strike_child(self, pid: int, moment: str, chance: random.Random) -> bool:
        """SIGKILL to a process that answers for this one; False: there is none."""
        with suppress(psutil.Error):
            children = psutil.Process(pid).children()
            if children:
                os.kill(chance.choice(children).pid, signal.SIGKILL)
                self.killed["child", moment] += 1
                return True
        return False

    def strike_ending(self, member: Member, seconds: float) -> bool:
        """SIGTERM, and SIGKILL so many seconds later; False: it had come to an end by then."""
        member.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._wait(member, seconds)
            self._replace(member)
            return False
        return self.strike(member.process.pid, "drain")

    def revive(self) -> None:
        """Start others in the place of those that were killed. Whoever ended otherwise has a defect."""
        for member in tuple(self.members):
            pid = member.process.pid
            if pid in self._struck:
                member.process.wait()
                self._replace(member)
            else:
                assert member.process.poll() is None, self.last_words(member)

    def halt(self) -> None:
        """Nobody lives until `revive`: whoever has begun in the place of one that was killed goes too, and does not count."""
        with self._lock:
            for member in self.members:
                self._struck.add(member.process.pid)
                member.process.kill()
                member.process.wait()

    def stop(self) -> None:
        """End everything as an administrator would; nothing may hang."""
        self.revive()
        for member in self.members:
            member.process.terminate()
        for member in self.members:
            self._wait(member, PATIENCE)
        self.members.clear()

    def end(self) -> None:
        """Kill what is left."""
        for member in self.members:
            member.process.kill()
            member.process.wait()

    def last_words(self, member: Member) -> str:
        """The last of what a process has said."""
        return f"{member}: {self._log(member.kind, member.since).read_text()[-3000:]}"

    def _wait(self, member: Member, seconds: float) -> None:
        """Wait for the clean end of one that was asked to end; the signal itself ends one that has not begun yet."""
        status = member.process.wait(seconds)
        said = self._log(member.kind, member.since).read_text().strip()
        has_begun = bool(said) and not said.startswith("bisect: interrupted")
        has_begun = has_begun or self.is_known(member.process.pid)
        assert status == 0 or (status in UNBEGUN and not has_begun), self.last_words(member)

    def _replace(self, member: Member) -> None:
        self._struck.discard(member.process.pid)
        with self._lock:
            self.members[self.members.index(member)] = self._started(member.kind, member.port)

    def _started(self, kind: str, port: int | None) -> Member:
        # The address is the same for all: it is in what is said on issues.
        words = (
            ["worker"] if port is None else ["serve", "--port", str(port), "--address", "https://bisect.example.org"]
        )
        if port is not None:
            words += ["--open", "--submissions", "10000/minute", "--requests", "100000/minute"]
        since = time.monotonic()
        with self._log(kind, since).open("wb") as log:
            command = self.place.command(*words, *self.words)
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self.place.environ(), cwd=self.place.root)
        return Member(kind, process, since, port)

    def _log(self, kind: str, since: float) -> Path:
        return self.place.root / f"{kind}-{since:.6f}.log"


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
