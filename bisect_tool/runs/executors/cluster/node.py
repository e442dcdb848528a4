"""What a process on a node knows of its node: its own settings, cache, uv, interpreters and GPUs."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import psutil

from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import Environments
from bisect_tool.environments.interpreter import Interpreter, find_interpreter
from bisect_tool.environments.uv import Uv, find_uv
from bisect_tool.errors import PythonMissing
from bisect_tool.runs.confining import confined
from bisect_tool.runs.gpu_watch import GpuWatch
from bisect_tool.runs.gpus import Gpu, GpuLost, Nvml, alike, visible
from bisect_tool.runs.nvml import NoDriver
from bisect_tool.settings import Settings, read_settings
from bisect_tool.stopping import Stop

LOOK = 0.1  # seconds between two looks for a sign that the work was called off


@dataclass(frozen=True, slots=True)
class Home:
    """What lies on this node. `environ` is that of whoever started the node, not of one of Ray's processes."""

    settings: Settings
    cache: CacheFolder
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)

    def environments(self) -> Environments:
        """Those of the cache of this node."""
        settings = self.settings
        return Environments(self.cache, self.uv, self.environ, settings.max_cache, bandwidth=settings.bandwidth)

    @property
    def jobs(self) -> Path:
        """The folder for what passes through: one folder for each keeper."""
        return self.cache.root / "ray"


@lru_cache(maxsize=1)
def home() -> Home:
    """The node of this process, read once. Raises `CacheNotWritable`, `SettingError`, `UvMissing`."""
    environ: Mapping[str, str] = node_environ()
    settings = read_settings({}, environ, Path(environ.get("HOME") or Path.home()))
    environ = confined(settings, environ)
    cache = open_cache(settings.cache)
    return Home(settings, cache, find_uv(cache.uv, environ), environ)


def node_environ() -> dict[str, str]:
    """The variables that the node was started with: Ray sets more in its processes, OMP_NUM_THREADS=1 among them."""
    try:
        parent = psutil.Process(os.getppid())
        if "raylet" in parent.name():
            return parent.environ()
    except psutil.Error:
        pass  # another user's, or gone
    return {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}


def host_name() -> str:
    """What people call this machine."""
    return platform.node() or "a machine without a name"


@lru_cache(maxsize=8)
def interpreter_like(wanted: Interpreter, *, exactly: bool) -> Interpreter:
    """The interpreter of this node that is what `wanted` is on the driver; `exactly`: it lies at the same path.

    Raises `PythonMissing`.
    """
    uv = home().uv
    names = [str(wanted.path)] if wanted.path.exists() else []
    if not exactly:
        free = "t" if wanted.free_threaded else ""
        kind = "" if wanted.implementation == "cpython" else f"{wanted.implementation}@"
        names += ["", f"{kind}{wanted.version}{free}"]
    seen = []
    for name in names:
        found = find_interpreter(name or None, uv)
        if found.identity == wanted.identity:
            return found
        seen.append(found.identity)
    raise PythonMissing(
        f"this node has no {wanted.identity}, only {', '.join(seen) or 'others'}",
        where=str(wanted.path) if exactly else None,
        advice="make the same Python available on every node (the same image, or `uv python install`); with "
        "`base: system` it must lie at the same path",
    )


@dataclass(frozen=True, slots=True)
class Card:
    """The GPU of a job. `variables` point processes to it."""

    watch: GpuWatch

    @property
    def variables(self) -> dict[str, str]:
        """What a process must see."""
        return {"CUDA_VISIBLE_DEVICES": self.watch.gpu.uuid}


@contextmanager
def card_of(names: str, ask: Callable[[], Nvml], wait: float) -> Iterator[Card]:
    """The card that Ray calls `names`, watched over. Raises `GpuLost` when the driver does not know it."""
    try:
        with closing(ask()) as nvml:
            found = visible(nvml.gpus(), {"CUDA_VISIBLE_DEVICES": names})
            if not found:
                raise GpuLost(f"the driver does not know the GPU that Ray calls {names!r}")
            yield Card(GpuWatch(nvml, found[0], wait))
    except NoDriver as error:
        raise GpuLost(f"NVML says: {error}") from error


def gpus_here(ask: Callable[[], Nvml], environ: Mapping[str, str]) -> tuple[tuple[Gpu, ...], str | None, str]:
    """The GPUs that trials may use on this node, the version of their driver, and why there are none."""
    try:
        with closing(ask()) as nvml:
            seen, driver = visible(nvml.gpus(), environ), nvml.driver()
    except NoDriver as error:
        return (), None, f"NVML says: {error}"
    if len(alike(seen) if seen else ()) != len(seen):
        return (), driver, "it has GPUs of several kinds, and Ray does not tell them apart"
    return seen, driver, "" if seen else "the NVIDIA driver lists no GPU that may be used"


class Signs:
    """Files in a folder of this node by which a job is called off: any process of the node can leave and see them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call_off(self, job: str) -> bool:
        """Ask for the end of a job; whether it had begun. One that has not will see it as it begins."""
        self._stop(job).touch()
        return self._begun(job).exists()

    def forget(self, job: str) -> None:
        """The job is over."""
        for path in (self._stop(job), self._begun(job)):
            path.unlink(missing_ok=True)

    @contextmanager
    def watching(self, job: str) -> Iterator[Stop]:
        """Do the job while this lasts; the stop is set when it is called off. Raises `Cancelled`."""
        stop, over = Stop(), threading.Event()
        self._begun(job).touch()

        def look() -> None:
            while not over.wait(LOOK):
                # Without its folder nobody is left who wants anything of the job.
                if self._stop(job).exists() or not self.folder.exists():
                    stop.set()
                    return

        if self._stop(job).exists():
            stop.set()
        stop.check()
        thread = threading.Thread(target=look, name=f"signs for {job}", daemon=True)
        thread.start()
        try:
            yield stop
        finally:
            over.set()
            thread.join()

    def _stop(self, job: str) -> Path:
        return self.folder / f"{job}.stop"

    def _begun(self, job: str) -> Path:
        return self.folder / f"{job}.begun"
