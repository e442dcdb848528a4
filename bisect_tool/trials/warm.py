"""Trials that are forked from a process which has imported the heavy modules: the side of the tool.

`WarmServers` keeps such processes (`bisect_tool.trials.warm_server`) while the environment of a build is open. A server serves
every trial with the same variables and modules; when repeats have to be independent of each other, each case once: all forks
of a server have its seed of `hash()` and its layout of memory. Whatever goes wrong with a server is no verdict: `Unserved` is
raised, and the trial starts fresh.
"""

from __future__ import annotations

import contextlib
import json
import re
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from bisect_tool.environments.isolation import CACHES
from bisect_tool.errors import MachineFault
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.trials.leftovers import empty_folder, remove_folder
from bisect_tool.trials.limits import Limits
from bisect_tool.trials.process import SUPERVISOR, Ended, Ends, Walls, end_process, run_process
from bisect_tool.trials.temporary import Held, hold_folder
from bisect_tool.trials.warm_room import Room
from bisect_tool.trials.warming import OWN_VARIABLES, Warmth, shared_variables

SERVER = Path(__file__).with_name("warm_server.py")
NOW, FIRST, WORK = "now", "first", "work"
IMPORT_TIME = 300.0  # seconds that the imports may take; they have been made before, by the health check
MOST_SERVERS = 8  # at a time; one with torch in it weighs about 300 MB
LONGEST_REPORT = 1 << 20
_OWN_WARNING = re.compile(rf"^{re.escape(str(SERVER))}:\d+: (\w+: .*)\n(?:  .*\n)?", re.MULTILINE)
_OWN_FRAME = re.compile(rf'^  File "{re.escape(str(SERVER))}", line \d+,? in .*\n(?:    .*\n)*', re.MULTILINE)


class Unserved(Exception):
    """The trial could not be forked, for the reason in the text; it says nothing about the build."""


@dataclass(slots=True)
class _Server:
    """One server at work, with what it reported; `served` are the cases that it has run.

    `held` is its folder for caches and temporary files, `places`. Every trial of it has the same paths there, because modules
    keep such paths while they are imported; so it runs one trial at a time, and each finds what the imports left and no more.
    `walls` is the sandbox that it runs in, and `stay` where trials lie meanwhile, if there is one.
    """

    process: subprocess.Popen[bytes]
    control: socket.socket
    held: Held
    walls: Walls | None = None
    stay: Path | None = None
    loaded: frozenset[str] = frozenset()
    served: set[str] = field(default_factory=set)
    is_busy: bool = False
    is_dead: bool = False

    @property
    def places(self) -> Path:
        return self.held.path

    def keep_places(self) -> None:
        """Remember what the imports left."""
        shutil.copytree(self.places / NOW, self.places / FIRST, symlinks=True)

    def reset_places(self) -> None:
        """Bring back what the imports left."""
        empty_folder(self.places / NOW)
        shutil.copytree(self.places / FIRST, self.places / NOW, symlinks=True, dirs_exist_ok=True)

    def start_watcher(self, ends: Ends) -> Callable[[], None]:
        """Have a watcher forked that works on these ends. Raises `OSError`."""
        socket.send_fds(self.control, [b"t"], [ends.commands, ends.output, ends.reports])
        return lambda: None  # it ends when our ends of its pipes are closed; the server and its supervisor see to it

    def close(self) -> None:
        """End the server and whatever descends from it; once."""
        if self.is_dead:
            return
        self.is_dead = True
        self.control.close()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        end_process(self.process)
        self.held.remove()
        if self.stay is not None:
            remove_folder(self.stay)


@dataclass(slots=True)
class WarmServers:
    """The servers of one open environment, whose folder of programs is `programs`; use it as a context, from any thread.

    `refused` are modules that cannot be imported ahead, and why.
    """

    programs: Path
    refused: dict[str, str] = field(default_factory=dict)
    _servers: dict[str, list[_Server]] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._lock:
            for server in [one for servers in self._servers.values() for one in servers]:
                server.close()
            self._servers.clear()

    def run(
        self,
        warmth: Warmth,
        command: Sequence[str],
        *,
        variables: Mapping[str, str],
        own: Path,
        folder: Path,
        timeout: float,
        mark: str,
        case: str | None,
        stop: Stop | None = None,
        limits: Limits | None = None,
        room: Room | None = None,
    ) -> Ended:
        """Run `command`, of which `warmth` was told, as `bisect_tool.trials.process.run_process` does.

        The variables of caches that name a place in `own`, and that of temporary files, name one of the server instead. `case`
        is a word for what is run when repeats of it must be independent, None when they need not be. `room` is the sandbox that
        it has to run in. Raises `Unserved`, `Cancelled` when another thread has set `stop`.
        """
        stop, common = stop or Stop(), _common(variables, own)
        server = self._server_for(warmth, common, case, stop, room)
        try:
            if clash := warmth.local & server.loaded:
                raise Unserved(f"a file of the repro hides a module that is imported ahead: {min(clash)}")
            server.reset_places()
            with nullcontext() if room is None or server.stay is None else room.moved(server.stay):
                ended = run_process(
                    command,
                    environ={**variables, **_placed(common, server.places)},
                    folder=folder,
                    timeout=timeout,
                    mark=mark,
                    start=server.start_watcher,
                    stop=stop,
                    limits=limits,
                    walls=server.walls,
                )
                if ended.is_lost:
                    self._drop(server)  # before its folders are touched: nobody saw that all of the trial was ended
        except Cancelled:
            if room is not None:
                self._drop(server)  # likewise
            raise
        except (OSError, MachineFault) as error:
            self._drop(server)
            what = error.what if isinstance(error, MachineFault) else str(error)
            raise Unserved(f"the process with the modules did not fork: {what}") from error
        finally:
            with self._lock:
                server.is_busy = False
        if ended.is_lost:
            raise Unserved("the process that watched over the trial was ended from outside")
        return _without_own_frame(ended)

    def _server_for(
        self, warmth: Warmth, common: Mapping[str, str], case: str | None, stop: Stop, room: Room | None
    ) -> _Server:
        with self._lock:
            while modules := self._accepted(warmth.modules):
                key = json.dumps([modules, sorted(common.items()), room.key if room is not None else ""])
                servers = self._servers.setdefault(key, [])
                free = (one for one in servers if not one.is_busy and not one.is_dead and case not in one.served)
                found = next(free, None)
                try:
                    found = found or self._start(key, modules, common, stop, room)
                except _Unfit as unfit:
                    self.refused[unfit.module] = str(unfit)
                    continue
                if case is not None:
                    found.served.add(case)
                found.is_busy = True
                return found
        raise Unserved("; ".join(f"{name}: {why}" for name, why in self.refused.items()))

    def _accepted(self, modules: Sequence[str]) -> list[str]:
        """The modules up to the first that was refused, of which the packages that it is in remain."""
        accepted: list[str] = []
        for name in modules:
            kept = name
            while kept in self.refused:
                kept = kept.rpartition(".")[0]
            accepted += [kept] if kept else []
            if kept != name:
                break
        return accepted

    def _start(
        self, key: str, modules: Sequence[str], common: Mapping[str, str], stop: Stop, room: Room | None
    ) -> _Server:
        self._make_room()
        server = self._launch(modules, common, room)
        try:
            with stop.ending(server.process.kill):
                server.loaded = frozenset(_report_of(server, modules)["loaded"])
            server.keep_places()
        except BaseException:
            server.close()
            stop.check()
            raise
        self._servers[key].append(server)
        return server

    def _make_room(self) -> None:
        """End the oldest servers that are idle when there are too many."""
        alive = [(one, servers) for servers in self._servers.values() for one in servers]
        for server, servers in alive:
            if len(alive) < MOST_SERVERS:
                return
            if not server.is_busy:
                server.close()
                servers.remove(server)
                alive = [pair for pair in alive if pair[0] is not server]
        if len(alive) >= MOST_SERVERS:
            raise Unserved(f"{MOST_SERVERS} processes with the modules are busy")

    def _launch(self, modules: Sequence[str], common: Mapping[str, str], room: Room | None) -> _Server:
        with contextlib.ExitStack() as undone:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undone.callback(ours.close)
            with theirs:
                # With a short name, because sockets of the trials may lie there.
                held = hold_folder()
                undone.callback(held.remove)
                places = held.path
                for name in (*CACHES.values(), WORK):
                    (places / NOW / name).mkdir(parents=True)
                walls, stay, first = None, None, [sys.executable]
                if room is not None:
                    stay = room.stay(self.programs.parent.parent / "scratch")
                    undone.callback(remove_folder, stay)
                    walls = room.walls(places / NOW, stay)
                    first = [*walls.words, walls.interpreter]
                channel = theirs.fileno()
                process = _supervised(first, theirs, is_walled=walls is not None)
            plan = {
                "modules": list(modules),
                "supervisor": str(SUPERVISOR),
                "scratch": sorted(OWN_VARIABLES),
                "is_walled": room is not None,
            }
            order: dict[str, object] = {
                "command": [str(self.programs / "python"), str(SERVER), str(channel), json.dumps(plan)],
                "environ": _placed(common, places),
                "folder": str(places / NOW / WORK),
            } | ({} if walls is None else walls.as_order())
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()
            undone.pop_all()
        return _Server(process, ours, held, walls, stay)

    def _drop(self, server: _Server) -> None:
        """Take a server that did something wrong out of use; trials that others run in it end, and start fresh."""
        with self._lock:
            server.close()
            for servers in self._servers.values():
                if server in servers:
                    servers.remove(server)


def _common(variables: Mapping[str, str], own: Path) -> dict[str, str]:
    """The variables without those of one trial; a place of the trial's own is empty."""
    shared = shared_variables(variables)
    return {name: "" if _is_own(name, value, own) else value for name, value in shared.items()}


def _is_own(name: str, value: str, own: Path) -> bool:
    return name == "TMPDIR" or (name in CACHES and Path(value).is_relative_to(own))


def _supervised(first: Sequence[str], theirs: socket.socket, *, is_walled: bool) -> subprocess.Popen[bytes]:
    """The supervisor of a new server, which waits for its order. Raises `Unserved`."""
    try:
        return subprocess.Popen(
            [*first, "-I", "-S", str(SUPERVISOR)],
            env={} if is_walled else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    except OSError as error:
        raise Unserved(f"no process can be started: {error.strerror}") from error


def _placed(common: Mapping[str, str], places: Path) -> dict[str, str]:
    """The common variables with the places of a server where a trial has its own."""
    return {
        name: str(places / NOW / CACHES[name]) if not value and name in CACHES else value
        for name, value in common.items()
    }


class _Unfit(Exception):
    """A module that cannot be imported ahead of the trials."""

    def __init__(self, module: str, reason: str) -> None:
        super().__init__(reason)
        self.module = module


def _report_of(server: _Server, modules: Sequence[str]) -> dict[str, Any]:
    """What a server says after its imports. Raises `_Unfit`."""
    ready, _, _ = select.select([server.control], [], [], IMPORT_TIME)
    message = b""
    if ready:
        with contextlib.suppress(OSError):
            message = server.control.recv(LONGEST_REPORT)
    if not message:
        raise _Unfit(modules[-1], "the process ended during the imports" if ready else "the imports do not end")
    report: dict[str, Any] = json.loads(message)
    if "unfit" in report:
        raise _Unfit(report["module"], report["unfit"])
    return report


def _without_own_frame(ended: Ended) -> Ended:
    """The output without the frame of the server, which a fresh start does not have below the script."""
    if str(SERVER) not in ended.output:
        return ended
    # Where a fresh start has no frame, warnings are said to come from the interpreter itself.
    output = _OWN_WARNING.sub(r"sys:1: \1\n", _OWN_FRAME.sub("", ended.output))
    return replace(ended, output=output)
