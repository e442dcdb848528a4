"""The environment of one build: made once, proven, and used by any number of processes at the same time."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments import installing, locks, making, room
from bisect_tool.environments.cache_folder import CacheFolder, disk_full
from bisect_tool.environments.health import NO_SPACE, Health, NotHealthy, ProbeBroke, prove
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.layering import NOT_VALID
from bisect_tool.environments.mixing import Swap, mix
from bisect_tool.environments.uv import Download, Uv
from bisect_tool.errors import MachineFault

MARK = "bisect-environment.json"
FORMAT = 1


class BuildUnusable(Exception):
    """The build cannot be installed or does not work at all; the text is the reason."""


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """What an environment is made of; equal keys share one environment.

    `requires` are the spec's requirements. `base_system` puts it on top of the interpreter's own packages.
    """

    build: Build
    interpreter: Interpreter
    requires: tuple[str, ...] = ()
    base_system: bool = False

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything that the content depends on."""
        parts = (
            self.build.package,
            self.build.identity,
            self.interpreter.identity,
            *sorted(self.requires),
            f"system:{self.interpreter.path}" if self.base_system else "isolated",
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def base(self) -> EnvironmentKey | None:
        """That of the environment which this one is laid over; None for one that stands alone."""
        return replace(self, build=self.build.base) if self.build.base is not None else None

    @property
    def folder_name(self) -> str:
        """Readable and unique: `torch-2.14.1-cpython-3.11.7-x86_64-0123456789abcdef`."""
        readable = f"{self.build.package}-{self.build.version}-{self.interpreter.identity}"
        return f"{re.sub(r'[^A-Za-z0-9._+-]', '_', readable)[:100]}-{self.digest}"


@dataclass(frozen=True, slots=True)
class Environment:
    """A ready environment: `programs` is its folder with `python`; `cached` says that it was there before."""

    folder: Path
    health: Health
    cached: bool
    seconds: float = 0.0

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / "venv" / "bin"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another process makes this environment."""


@dataclass(frozen=True, slots=True)
class Making:
    """The environment is being made."""


@dataclass(frozen=True, slots=True)
class Checking:
    """The health check runs."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An attempt failed through no fault of the build and is made again."""

    reason: str
    attempt: int
    of: int


Step = Waiting | Making | Checking | Download | Trouble


@dataclass(frozen=True, slots=True)
class Environments:
    """Makes environments in a cache. `max_cache` bounds its size in bytes; `environ` is what processes may inherit of.

    `sleep` waits so many seconds between two attempts at a download.
    """

    cache: CacheFolder
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)
    max_cache: int | None = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def is_ready(self, key: EnvironmentKey) -> bool:
        """Whether the environment is there; it may be gone a moment later."""
        return _read_mark(self._folder(key)).get("state") == "ready"

    @contextmanager
    def use(
        self,
        key: EnvironmentKey,
        install: Callable[[], Installation],
        *,
        device: str,
        as_of: datetime | None,
        tell: Callable[[Step], None] = lambda _step: None,
    ) -> Iterator[Environment]:
        """The environment of `key`, made where needed, kept from removal while the context lasts; so is the one under it.

        Raises `BuildUnusable` when the build is to blame; `DiskFull`, `DownloadFailed`, `MachineFault`, `RequirementsUnmet`,
        `UvMissing` when it is not.
        """
        with ExitStack() as stack:
            if key.base is not None:
                self._open_base(stack, key.base, install, device, as_of, tell)
            yield stack.enter_context(self._use(key, install, device, as_of, tell))

    @contextmanager
    def mixed(
        self, key: EnvironmentKey, base: Environment, donor: Environment, swap: Swap, device: str
    ) -> Iterator[Environment]:
        """The open environment `base`, of `key`, with a part of the open environment `donor`; it is gone afterwards.

        It lies inside the base, so that what a crash leaves behind goes with that. Raises `BuildUnusable` when the two do not
        fit, `DiskFull`, `MachineFault`.
        """
        (base.folder / "scratch").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=base.folder / "scratch", prefix="mix-", ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            order = installing.Order(key.build, Installation(()), key.interpreter, (), key.base_system, None)
            installing.make_venv(order, folder / "venv", self.uv)
            sites = [installing.purelib_of(one / "venv") for one in (base.folder, donor.folder, folder)]
            try:
                mix(sites[0], sites[1], sites[2], key.build.package, swap)
            except OSError as error:
                raise (disk_full(self.cache.root) if error.errno in room.FULL else _machine(error, folder)) from error
            yield Environment(folder, self._proven(key, folder, device, lambda _step: None), cached=False)

    def _open_base(
        self,
        stack: ExitStack,
        key: EnvironmentKey,
        install: Callable[[], Installation],
        device: str,
        as_of: datetime | None,
        tell: Callable[[Step], None],
    ) -> None:
        """Hold the environment that another one is laid over; it is made as of its own date."""
        time_of = key.build.date if as_of is not None else None
        stack.enter_context(self.use(key, lambda: _under(install()), device=device, as_of=time_of, tell=tell))

    @contextmanager
    def _use(
        self,
        key: EnvironmentKey,
        install: Callable[[], Installation],
        device: str,
        as_of: datetime | None,
        tell: Callable[[Step], None],
    ) -> Iterator[Environment]:
        folder, lock = self._folder(key), self.cache.locks / f"{key.folder_name}.lock"
        cached, seconds = True, 0.0
        while True:
            with locks.shared(lock, lambda: tell(Waiting())):
                health = _health_of(folder, device)
                if health is not None:
                    _touch(folder)
                    yield Environment(folder, health, cached, seconds)
                    return
            started = time.monotonic()
            with locks.exclusive(lock, lambda: tell(Waiting())):
                made = self._ensure(key, folder, install, device, as_of, tell)
            cached, seconds = cached and not made, time.monotonic() - started

    def _folder(self, key: EnvironmentKey) -> Path:
        return self.cache.environments / key.folder_name

    def _ensure(
        self,
        key: EnvironmentKey,
        folder: Path,
        install: Callable[[], Installation],
        device: str,
        as_of: datetime | None,
        tell: Callable[[Step], None],
    ) -> bool:
        """Make the environment and prove it on `device`, under the exclusive lock; gives whether it was made now."""
        make = _read_mark(folder).get("state") != "ready"
        try:
            if make:
                self._make(key, folder, install(), as_of, tell)
            if _health_of(folder, device) is None:
                self._prove(key, folder, device, tell)
        except OSError as error:
            if make:
                _discard(folder)
            raise (disk_full(self.cache.root) if error.errno in room.FULL else _machine(error, folder)) from error
        except BaseException:
            if make:
                _discard(folder)
            raise
        return make

    def _make(
        self,
        key: EnvironmentKey,
        folder: Path,
        installation: Installation,
        as_of: datetime | None,
        tell: Callable[[Step], None],
    ) -> None:
        tell(Making())
        remove(folder)
        if self.max_cache is not None:
            room.make_room(self.cache, self.uv, self.max_cache, needed=room.likely_size(key.build))
        folder.mkdir(parents=True)
        _write_mark(folder, {"state": "making", "key": _described(key)})
        order = installing.Order(
            build=key.build,
            installation=installation,
            interpreter=key.interpreter,
            requires=key.requires,
            base_system=key.base_system,
            as_of=as_of,
        )
        base = self._folder(key.base) if key.base is not None else None
        try:
            notes = making.fill(
                order,
                making.Site(folder, self.uv, self.environ, base),
                on_download=tell,
                on_trouble=lambda *what: tell(Trouble(*what)),
                sleep=self.sleep,
            )
        except installing.NotInstallable as error:
            raise BuildUnusable(str(error)) from error
        _write_mark(folder, {"state": "installed", "key": _described(key), "notes": notes, "health": {}})

    def _prove(self, key: EnvironmentKey, folder: Path, device: str, tell: Callable[[Step], None]) -> None:
        tell(Checking())
        health = self._proven(key, folder, device, tell)
        mark = _read_mark(folder)
        mark["state"] = "ready"
        mark["health"] = {**mark.get("health", {}), device: asdict(health)}
        mark["bytes"] = room.size_of(folder)
        _write_mark(folder, mark)
        _touch(folder)

    def _proven(self, key: EnvironmentKey, folder: Path, device: str, tell: Callable[[Step], None]) -> Health:
        attempts, reason = 2, ""
        for attempt in range(1, attempts + 1):
            try:
                return prove(
                    key.build,
                    folder / "venv" / "bin",
                    device=device,
                    environ=self.environ,
                    scratch=folder / "scratch",
                    base_system=key.base_system,
                )
            except NotHealthy as error:
                where = NOT_VALID if key.base is not None else ""
                raise BuildUnusable(f"{where}{error}") from error
            except ProbeBroke as error:
                reason = str(error)
                tell(Trouble(reason, attempt, attempts))
        if NO_SPACE in reason:
            raise disk_full(self.cache.root)
        raise MachineFault(
            f"the health check of a build failed twice in a way that says nothing about the build: {reason}",
            where=f"{key.build.package} {key.build.version}",
            advice="look at the memory and the devices of this machine (`free -h`, `nvidia-smi`, `dmesg`), then run the same "
            "command again",
        )


def _under(installation: Installation) -> Installation:
    """How the environment under a layer is installed."""
    if installation.layer is None:
        raise ValueError("a build with a base is installed as a layer")
    return installation.layer.under()


def remove(folder: Path) -> None:
    """Remove an environment; a link and a folder without our mark are left alone, because they are not ours."""
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or (not (folder / MARK).exists() and _has_more_than_a_part(folder)):
        raise MachineFault(
            "a folder without the mark of bisect lies where an environment belongs",
            where=str(folder),
            advice="move it away; bisect deletes only what it made itself",
        )
    # The mark goes last, so that a removal that was interrupted can be taken up again.
    for child in folder.iterdir():
        if child.name != MARK:
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    shutil.rmtree(folder)


def _has_more_than_a_part(folder: Path) -> bool:
    """An interrupted start leaves nothing but the first piece of the mark."""
    return any(child.name != f"{MARK}.part" for child in folder.iterdir())


def _discard(folder: Path) -> None:
    """Remove what was half made; what cannot be removed now is not taken for ready, and goes before the next attempt."""
    with suppress(OSError, MachineFault):
        remove(folder)


def _machine(error: OSError, folder: Path) -> MachineFault:
    return MachineFault(
        f"an environment could not be made: {error.strerror or error}",
        where=str(error.filename or folder),
        advice="see to the cause, then run the same command again; nothing learned so far is lost",
    )


def _described(key: EnvironmentKey) -> dict[str, Any]:
    return {
        "package": key.build.package,
        "version": key.build.version,
        "identity": key.build.identity,
        "python": key.interpreter.identity,
        "requires": list(key.requires),
        "base": "system" if key.base_system else "isolated",
    }


def _read_mark(folder: Path) -> dict[str, Any]:
    try:
        mark = json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return {}  # no environment, or one whose making was interrupted in the middle of the mark: made again
    return mark if isinstance(mark, dict) and mark.get("format") == FORMAT else {}


def _write_mark(folder: Path, mark: Mapping[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, **mark, "changed": datetime.now(UTC).isoformat()}, indent=1)
    part = folder / f"{MARK}.part"
    part.write_text(text + "\n")
    part.replace(folder / MARK)


def _touch(folder: Path) -> None:
    # Without it the environment only looks as if nobody had used it.
    with suppress(OSError):
        (folder / room.USED).touch()


def _health_of(folder: Path, device: str) -> Health | None:
    mark = _read_mark(folder)
    if mark.get("state") != "ready":
        return None
    found = mark["health"].get(device)
    return None if found is None else Health(**found)


def keys_of(marks: Sequence[Path]) -> list[dict[str, Any]]:
    """What the marks of several environments say, for listing."""
    return [_read_mark(folder) for folder in marks]
