"""One trial: a case of a repro, run once on a build, with a folder that keeps what it left."""

from __future__ import annotations

import json
import os
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from bisect_tool.environments.cache_folder import cannot_write
from bisect_tool.environments.isolation import isolated_environment, own_folders
from bisect_tool.environments.sandbox import Sandbox, sandbox_in
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.trials.checks_file import read_checks
from bisect_tool.trials.left_files import keep_only_files, open_left, write_anew
from bisect_tool.trials.leftovers import remove_folder
from bisect_tool.trials.limits import Limits, read_limits
from bisect_tool.trials.observation import Check, Observation, Raised
from bisect_tool.trials.process import Ended, Walls, run_process, walls_of
from bisect_tool.trials.temporary import held_folder
from bisect_tool.trials.warm import Unserved, WarmServers
from bisect_tool.trials.warm_room import Room
from bisect_tool.trials.warming import TooCold, warmth_of

NOT_FOUND = 127
NOT_EXECUTABLE = 126
# Sockets have names of at most 107 bytes, and Python's own take 32 of them: `/pymp-12345678/listener-12345678`.
LONGEST_TEMPORARY = 75
REPEAT = "command.sh"
LONGEST_CHAIN = 32 * 1024 * 1024  # the hook writes less


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """What to run. `files` are (relative name, content), laid out anew for each trial; `words` the command.

    The word `python` at the start is the interpreter of the build; a word equal to a file name means that file. `caches` is a
    folder for what the trial compiles, when others are to find it; without one it has caches of its own. `shown` and `written`
    are folders that it may read and write in the sandbox besides its own.
    """

    files: tuple[tuple[str, bytes], ...]
    words: tuple[str, ...]
    variables: Mapping[str, str]
    timeout: float
    device: str
    caches: Path | None = None
    shown: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Forking:
    """That a trial may be forked from a process which has imported the heavy modules ahead of it.

    With `independent`, trials of one order never come from the same process. `tell` hears why a trial that could have been
    forked started fresh.
    """

    servers: WarmServers
    independent: bool = True
    tell: Callable[[str], None] = lambda _reason: None


@dataclass(frozen=True, slots=True)
class FinishedTrial:
    """A trial that has ended: its folder, and what was seen."""

    folder: Path
    command: str
    observation: Observation


def run_trial(
    order: TrialOrder,
    *,
    programs: Path,
    folder: Path,
    environ: Mapping[str, str],
    ahead: Forking | None = None,
    stop: Stop | None = None,
) -> FinishedTrial:
    """Run `order` with the Python in `programs`; `folder` is made and keeps log, repro, command and environment.

    With `ahead` it is forked where that can be, else it starts fresh. Raises `DiskFull` or `CacheNotWritable` when the folder
    cannot be written, `MachineFault` when nothing can be started, `Cancelled` when another thread has set `stop`: then nothing
    is left of the trial, its folder neither.
    """
    stop = stop or Stop()
    try:
        if ahead is not None:
            try:
                return _run(order, programs, folder, environ, ahead, stop)
            except TooCold:
                remove_folder(folder)
            except Unserved as reason:
                ahead.tell(str(reason))
                remove_folder(folder)
        return _run(order, programs, folder, environ, None, stop)
    except Cancelled:
        remove_folder(folder)
        raise
    except OSError as error:
        raise cannot_write(error, folder) from error


def _run(
    order: TrialOrder, programs: Path, folder: Path, environ: Mapping[str, str], ahead: Forking | None, stop: Stop
) -> FinishedTrial:
    with temporary_folder(folder / "run") as temporary:
        own, checks = folder / "run", folder / "checks.jsonl"
        repro, work, exceptions = folder / "repro", own / "work", own / "exceptions"
        for path in (work, exceptions):
            path.mkdir(parents=True)
        lay_out(order.files, repro)
        extra = {
            "TMPDIR": str(temporary),
            **order.variables,
            "BISECT_CHECKS": str(checks),
            "BISECT_EXCEPTIONS": str(exceptions),
        }
        variables = isolated_environment(
            environ, scratch=own, programs=programs, device=order.device, extra=extra, shared=order.caches
        )
        command = [_program(order.words[0], programs), *order.words[1:]]
        command = [_placed(word, repro, order.files) for word in command]
        repeat = _repeat(command, variables, work, (exceptions, *own_folders(own, order.caches), temporary))
        write_anew(folder / REPEAT, repeat, "surrogateescape")
        limits, sandbox = read_limits(environ), sandbox_in(environ)
        room = None if sandbox is None else _room(sandbox, order, programs, folder, limits)
        apart = () if temporary.is_relative_to(folder) else (temporary,)
        ended = _ended(order, command, variables, work, ahead, stop, limits, room, apart)
        observation = _observed(ended, order.timeout, checks, own, warm=ahead is not None)
        # First of all, because the trial may have filled the disk.
        remove_folder(own)
        keep_only_files(folder)
        write_anew(folder / REPEAT, repeat, "surrogateescape")
        _keep(folder, order, observation)
        return FinishedTrial(folder, shlex.join(command), observation)


def _room(sandbox: Sandbox, order: TrialOrder, programs: Path, folder: Path, limits: Limits) -> Room:
    """What a trial sees in the sandbox."""
    caches = () if order.caches is None else (order.caches,)
    view = sandbox.around(programs, written=(*caches, *order.written), device=order.device, memory=limits.memory)
    return Room(sandbox, replace(view, shown=(*view.shown, *order.shown)), folder)


def _walls(room: Room, apart: tuple[Path, ...]) -> Walls:
    """The sandbox of a trial that starts fresh; `apart` are folders of its own outside its folder."""
    return walls_of(room.sandbox, replace(room.view, written=(*room.view.written, room.trial, *apart)))


def _ended(
    order: TrialOrder,
    command: Sequence[str],
    variables: Mapping[str, str],
    work: Path,
    ahead: Forking | None,
    stop: Stop,
    limits: Limits,
    room: Room | None,
    apart: tuple[Path, ...],
) -> Ended:
    """The process of the trial, ended. Raises `Unserved` and `TooCold` when it is to be forked and cannot be."""
    mark = uuid.uuid4().hex
    if ahead is not None:
        return ahead.servers.run(
            warmth_of(order.files, order.words),
            command,
            variables=variables,
            folder=work,
            timeout=order.timeout,
            mark=mark,
            own=work.parent,
            case=_word_for(order) if ahead.independent else None,
            stop=stop,
            limits=limits,
            room=room,
        )
    walls = None if room is None else _walls(room, apart)
    try:
        timeout = order.timeout
        return run_process(
            command, environ=variables, folder=work, timeout=timeout, mark=mark, stop=stop, limits=limits, walls=walls
        )
    except OSError as error:
        return _not_started(command[0], error)


def _word_for(order: TrialOrder) -> str:
    """A word for what is run, the same for repeats of it in this process."""
    return str(hash((order.files, order.words)))


@contextmanager
def temporary_folder(own: Path) -> Iterator[Path]:
    """Where the trial has its temporary files: under its own folder, unless that is too deep for the name of a socket."""
    if len(os.fsencode(own / "tmp")) <= LONGEST_TEMPORARY:
        yield own / "tmp"
        return
    with held_folder() as outside:
        yield outside


def _keep(folder: Path, order: TrialOrder, observation: Observation) -> None:
    """Write down what was seen. The repro is laid out again: it may have changed or deleted itself, or all of this."""
    lay_out(order.files, folder / "repro")
    write_anew(folder / "log.txt", observation.output)
    write_anew(folder / "observation.json", json.dumps(_as_json(observation), indent=1) + "\n")


def lay_out(files: Sequence[tuple[str, bytes]], folder: Path) -> None:
    """Write the files of a repro into `folder`. Raises `OSError`."""
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if content.startswith(b"#!"):
            path.chmod(0o755)


def _program(word: str, programs: Path) -> str:
    """Only the first word: behind it `python` is an argument like any other, or is found in PATH."""
    return str(programs / "python") if word == "python" else word


def _placed(word: str, repro: Path, files: Sequence[tuple[str, bytes]]) -> str:
    name = word.removeprefix("./")
    return str(repro / name) if any(name == file for file, _ in files) else word


def _repeat(command: Sequence[str], variables: Mapping[str, str], work: Path, folders: Sequence[Path]) -> str:
    """A script that runs the same command in the same environment by hand; the folders are gone by then."""
    shown = [f"{key}={shlex.quote(value)}" for key, value in sorted(variables.items())]
    places = " ".join(shlex.quote(str(path)) for path in (work, *folders))
    return (
        f"#!/bin/sh\nmkdir -p {places} &&\ncd {shlex.quote(str(work))} &&\nexec env -i \\\n  "
        + " \\\n  ".join([*shown, shlex.join(command)])
        + " </dev/null\n"
    )


def _not_started(program: str, error: OSError) -> Ended:
    status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    text = f"{program}: {error.strerror}\n"
    return Ended(status, None, timed_out=False, duration=0.0, output=text, output_bytes=len(text),
                 peak_memory=None, left_running=0, pid=0)  # fmt: skip


def _observed(ended: Ended, timeout: float, checks: Path, own: Path, *, warm: bool) -> Observation:
    found: tuple[Check, ...] = ()
    malformed: str | None = None
    # The repro can do anything to these files, also delete them or make folders of them.
    try:
        found, malformed = read_checks(checks)
    except OSError as error:
        malformed = f"it cannot be read: {error.strerror}"
    return Observation(
        exit_status=ended.exit_status,
        signal=ended.signal,
        timed_out=ended.timed_out,
        timeout=timeout,
        duration=ended.duration,
        output=ended.output,
        output_bytes=ended.output_bytes,
        chain=_read_chain(own, f"exceptions/{ended.pid}.json"),
        checks=found,
        malformed=malformed,
        peak_memory=ended.peak_memory,
        memory_total=psutil.virtual_memory().total,
        left_running=ended.left_running,
        warm=warm,
        over=ended.over,
    )


def _read_chain(own: Path, name: str) -> tuple[Raised, ...]:
    """What the exception hook wrote; empty when there was no uncaught exception (its text is parsed then)."""
    with (
        suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError),
        open_left(own, name) as file,
    ):
        content = file.read(LONGEST_CHAIN + 1)
        if len(content) <= LONGEST_CHAIN:
            return tuple(_raised(one) for one in json.loads(content.decode("utf-8", "replace"))["chain"])
    return ()


def _raised(one: Mapping[str, Any]) -> Raised:
    """One exception; JSON can spell halves of characters, which no file and no terminal takes."""

    def printable(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode()

    return Raised(
        printable(one["type"]),
        printable(one["message"]),
        printable(one["relation"]),
        tuple((printable(file), printable(function)) for file, function in one["frames"]),
    )


def _as_json(observation: Observation) -> dict[str, object]:
    """The observation without its output, which is in the log."""
    return {
        "exit_status": observation.exit_status,
        "signal": observation.signal,
        "timed_out": observation.timed_out,
        "timeout": observation.timeout,
        "duration": round(observation.duration, 3),
        "output_bytes": observation.output_bytes,
        "peak_memory": observation.peak_memory,
        "left_running": observation.left_running,
        "malformed": observation.malformed,
        "warm": observation.warm,
        "over": observation.over,
        "checks": [{"check": c.name, "ok": c.ok, "value": c.value, "message": c.message} for c in observation.checks],
        "exception": [{"type": r.type, "message": r.message, "relation": r.relation} for r in observation.chain],
    }
