"""The environment of one build: made once, proven, and used by any number of processes at the same time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from bisect_tool.builds.build import Installation
from bisect_tool.environments import installing, locks, making, marks, room
from bisect_tool.environments.cache_folder import CacheFolder, disk_full
from bisect_tool.environments.compiling import compile_ahead, compile_before
from bisect_tool.environments.environment_key import EnvironmentKey
from bisect_tool.environments.health import NO_SPACE, Health, NotHealthy, ProbeBroke, prove
from bisect_tool.environments.holding import Standing
from bisect_tool.environments.layering import NOT_VALID
from bisect_tool.environments.marks import MARK, remove
from bisect_tool.environments.mixing import Swap, mix
from bisect_tool.environments.order import NotInstallable, Order
from bisect_tool.environments.private import copy_programs, copy_site
from bisect_tool.environments.sandbox import Sandbox, sandbox_in
from bisect_tool.environments.steps import Checking, Making, Step, Trouble, Waiting
from bisect_tool.environments.uv import Uv
from bisect_tool.environments.wheels import Wheels
from bisect_tool.errors import MachineFault
from bisect_tool.stopping import Stop

# What other rooms need of an environment, from one place.
__all__ = [
    "MARK", "BuildUnusable", "Checking", "Environment", "EnvironmentKey", "Environments", "Making", "Step", "Trouble",
    "Waiting", "remove",
]  # fmt: skip


WORTH_COMPILING = 1_000_000  # bytes of a wheel: the files of a smaller one are compiled in no time


class BuildUnusable(Exception):
    """The build cannot be installed or does not work at all; the text is the reason.

    `is_of_host`: it was seen by trying it here, so that another C library or driver may see something else.
    """

    def __init__(self, reason: str, *, is_of_host: bool = False) -> None:
        super().__init__(reason)
        self.is_of_host = is_of_host


@dataclass(frozen=True, slots=True)
class Environment:
    """A ready environment: `programs` is its folder with `python`; `cached` says that it was there before.

    `machine` is the machine since its last start, where that is another one than that of the tool; else empty.
    """

    folder: Path
    health: Health
    cached: bool
    seconds: float = 0.0
    machine: str = ""

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / "venv" / "bin"


@dataclass(frozen=True, slots=True)
class Environments:
    """Makes environments in a cache. `max_cache` bounds its size in bytes; `environ` is what processes may inherit of.

    `sleep` waits so many seconds between two attempts at a download. `bandwidth` bounds the bytes a second of the wheels of
    builds, over everything that uses this cache; None does not. `stop` ends the making from another thread: see
    `stopped_by`.
    """

    cache: CacheFolder
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)
    max_cache: int | None = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    bandwidth: int | None = None
    stop: Stop = field(default_factory=Stop, repr=False, compare=False)

    def stopped_by(self, stop: Stop) -> Self:
        """The same, but whatever is being made ends with `Cancelled` when `stop` is set, and its processes with it."""
        return replace(self, uv=replace(self.uv, stop=stop), stop=stop, sleep=stop.sleep)

    def elsewhere(self) -> frozenset[str] | None:
        """The digests of environments that are ready on other machines; None where they are in this cache."""
        return None

    def is_ready(self, key: EnvironmentKey) -> bool:
        """Whether the environment is there; it may be gone a moment later."""
        return marks.read_mark(self._folder(key)).get("state") == "ready"

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
        donated = installing.purelib_of(donor.folder / "venv")
        with self._beside(
            key, base, "mix-", lambda site, own: mix(site, donated, own, key.build.package, swap)
        ) as folder:
            yield Environment(folder, self._proven(key, folder, device, lambda _step: None), cached=False)

    @contextmanager
    def copied(self, key: EnvironmentKey, base: Environment) -> Iterator[Environment]:
        """A private copy of the open environment `base`, of `key`; it lies inside that, and is gone afterwards.

        Raises `DiskFull`, `MachineFault`.
        """
        with self._beside(key, base, "copy-", copy_site) as folder:
            made = Environment(folder, base.health, cached=False)
            copy_programs(base.programs, made.programs)
            yield made

    @contextmanager
    def _beside(
        self, key: EnvironmentKey, base: Environment, prefix: str, fill: Callable[[Path, Path], None]
    ) -> Iterator[Path]:
        """The folder of a further environment inside `base`; `fill` is given the packages of both."""
        (base.folder / "scratch").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=base.folder / "scratch", prefix=prefix, ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            order = Order(key.build, Installation(()), key.interpreter, (), key.base_system, None)
            installing.make_venv(order, folder / "venv", self.uv)
            try:
                fill(*(installing.purelib_of(one / "venv") for one in (base.folder, folder)))
            except OSError as error:
                raise (disk_full(self.cache.root) if error.errno in room.FULL else _machine(error, folder)) from error
            yield folder

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
            with locks.shared(lock, lambda: tell(Waiting()), self.stop):
                health = marks.health_of(folder, device)
                if health is not None:
                    marks.touch(folder)
                    yield Environment(folder, health, cached, seconds)
                    return
            started = time.monotonic()
            with locks.exclusive(lock, lambda: tell(Waiting()), self.stop):
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
        make = marks.read_mark(folder).get("state") != "ready"
        try:
            if make:
                self._make(key, folder, install(), as_of, tell)
            if marks.health_of(folder, device) is None:
                self._prove(key, folder, device, tell)
        except OSError as error:
            if make:
                marks.discard(folder)
            raise (disk_full(self.cache.root) if error.errno in room.FULL else _machine(error, folder)) from error
        except BaseException:
            if make:
                marks.discard(folder)
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
        marks.write_mark(folder, {"state": "making", "key": marks.described(key)})
        order = Order(
            build=key.build,
            installation=installation,
            interpreter=key.interpreter,
            requires=key.requires,
            base_system=key.base_system,
            # What is held is the same for every build, and so is what it needs.
            as_of=None if key.hold else as_of,
            hold=key.hold,
        )
        base = self._folder(key.base) if key.base is not None else None
        try:
            notes = making.fill(
                order,
                making.Site(folder, self.uv, self.environ, base, Wheels(self.cache, self.environ, self.bandwidth)),
                on_download=tell,
                on_trouble=lambda *what: tell(Trouble(*what)),
                on_wait=lambda: tell(Waiting()),
                sleep=self.sleep,
            )
        except NotInstallable as error:
            raise BuildUnusable(str(error)) from error
        marks.write_mark(folder, {"state": "installed", "key": marks.described(key), "notes": notes, "health": {}})

    def _prove(self, key: EnvironmentKey, folder: Path, device: str, tell: Callable[[Step], None]) -> None:
        tell(Checking())
        sandbox = sandbox_in(self.environ)
        is_compiled = marks.read_mark(folder).get("compiled", False)
        if sandbox is not None and not is_compiled:
            self._compile(folder, sandbox)
        elif sandbox is None and not marks.read_mark(folder).get("health"):
            self._compile_before(key, folder)
        health = self._proven(key, folder, device, tell)
        mark = marks.read_mark(folder)
        mark["compiled"] = is_compiled or sandbox is not None
        mark["state"] = "ready"
        mark["health"] = {**mark.get("health", {}), device: asdict(health)}
        mark["bytes"] = room.size_of(folder)
        marks.write_mark(folder, mark)
        marks.touch(folder)

    def _compile(self, folder: Path, sandbox: Sandbox) -> None:
        (folder / "scratch").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=folder / "scratch", prefix="compile-", ignore_cleanup_errors=True
        ) as scratch:
            compile_ahead(folder / "venv", sandbox, Path(scratch), self.stop)

    def _compile_before(self, key: EnvironmentKey, folder: Path) -> None:
        """Outside a sandbox, where imports write what they compile, all that others have compiled is there before them."""
        if key.build.size is not None and key.build.size < WORTH_COMPILING:
            return
        # Nobody holds those environments: one of them may be gone by now.
        others = [
            site
            for one in marks.latest_alike(folder, key)
            for site in (one / "venv" / "lib").glob("python*/site-packages")
        ]
        if others:
            store = self.cache.compiled / key.interpreter.identity
            compile_before(installing.purelib_of(folder / "venv"), folder / "venv", store, others, self.stop)

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
                    standing=Standing(key.base_system, key.hold, key.as_is),
                    stop=self.stop,
                )
            except NotHealthy as error:
                where = NOT_VALID if key.base is not None else ""
                raise BuildUnusable(f"{where}{error}", is_of_host=True) from error
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


def _machine(error: OSError, folder: Path) -> MachineFault:
    return MachineFault(
        f"an environment could not be made: {error.strerror or error}",
        where=str(error.filename or folder),
        advice="see to the cause, then run the same command again; nothing learned so far is lost",
    )
