"""What travels between the driver and the nodes: all of it can be pickled, errors too, and names no file of the driver."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import unquote, urlsplit

import bisect_tool
from bisect_tool import errors
from bisect_tool.builds.build import Installation, Layer
from bisect_tool.environments.environment import BuildUnusable, Environment, EnvironmentKey
from bisect_tool.environments.room import FULL
from bisect_tool.errors import BisectError, DiskFull, MachineFault, SettingError
from bisect_tool.runs.executors import NoRoom, SlotLost
from bisect_tool.runs.gpus import Gpu
from bisect_tool.stopping import Cancelled
from bisect_tool.trials.observation import Observation

LARGEST = 64 * 1024 * 1024  # bytes of a file that a trial leaves; larger ones stay out of the logs
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tool:
    """One installation of this tool: its version, and a digest over its modules, which differ between two checkouts of one."""

    version: str
    digest: str


@lru_cache(maxsize=1)
def own_tool() -> Tool:
    """The tool of this process."""
    root = Path(bisect_tool.__file__).parent
    hashed = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        hashed.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return Tool(bisect_tool.__version__, hashed.hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node says of itself. `gpus` are those that its trials may use; `no_gpu` says why there is none.

    `boot` is the machine since its last start; `ready` are the digests of the environments that its cache has.
    """

    host: str
    platform: str
    tool: Tool
    cache: str
    boot: str
    ready: frozenset[str]
    has_environments: bool
    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    no_gpu: str = ""


@dataclass(frozen=True, slots=True)
class Given(Generic[T]):
    """A function that gives a value which is known already."""

    value: T = field(repr=False)

    def __call__(self) -> T:
        """The value."""
        return self.value


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """An environment to open; `installation` None: it is there, as far as is known."""

    key: EnvironmentKey
    installation: Installation | None
    device: str
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class OpenedThere:
    """The keeper of the node holds the environment open."""

    environment: Environment


@dataclass(frozen=True, slots=True)
class RanThere:
    """A trial has ended; `files` are (name in its folder, content), without the repro."""

    observation: Observation
    command: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The environment is not there, so that the order must say how it is installed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What was raised, by the name of its class; for a `BisectError` with where and what next."""

    kind: str
    what: str
    where: str | None = None
    advice: str = ""
    is_of_host: bool = False

    def error(self) -> Exception:
        """The exception again."""
        if self.kind == BuildUnusable.__name__:
            return BuildUnusable(self.what, is_of_host=self.is_of_host)
        if self.kind in _PLAIN:
            return _PLAIN[self.kind](self.what)
        kind = getattr(errors, self.kind, None)
        known = kind if isinstance(kind, type) and issubclass(kind, BisectError) else MachineFault
        return known(self.what, where=self.where, advice=self.advice)


Outcome = OpenedThere | RanThere | Unknown | Failed
_PLAIN: dict[str, type[Exception]] = {kind.__name__: kind for kind in (BuildUnusable, Cancelled, NoRoom, SlotLost)}


def failed(error: BaseException, host: str) -> Failed:
    """What was raised on `host`, as it travels. What nobody foresaw is a fault of the machine."""
    if type(error).__name__ in _PLAIN:
        return Failed(type(error).__name__, str(error), is_of_host=getattr(error, "is_of_host", False))
    if isinstance(error, OSError) and error.errno in FULL:
        return Failed(DiskFull.__name__, f"no space is left on a disk: {error}", f"the node {host}", "make room there")
    if isinstance(error, BisectError):
        where = f"{error.where} on {host}" if error.where else f"the node {host}"
        return Failed(type(error).__name__, error.what, where, error.advice)
    return Failed(
        MachineFault.__name__,
        f"{type(error).__name__}: {error}",
        f"the node {host}",
        "see to the cause, then run the same command again: it goes on from where it stopped",
    )


def travelling(installation: Installation) -> Installation:
    """The same with everything that is read on the driver: a layer carries the contents of its files.

    Raises `SettingError` for what is not made on a cluster, `HistoryUnavailable`.
    """
    if installation.check_out is not None:
        raise SettingError(
            "builds from source are not made on a Ray cluster",
            where="the channel `commit`",
            advice="use `--executor local` for this spec, or leave the channel out",
        )
    if (layer := installation.layer) is None:
        return installation
    if layer.python is not None:
        raise ValueError("thin builds are not made on a cluster")
    under: Callable[[], Installation] = Given(travelling(layer.under()))
    return replace(installation, layer=Layer(layer.folders, under, Given(layer.changes())))


def local_places(installation: Installation) -> Iterator[Path]:
    """The files and folders that an installation reads: those of a folder of wheels."""
    for text in installation.requirements:
        address = urlsplit(text.partition(" @ ")[2])
        if address.scheme == "file":
            yield Path(unquote(address.path))
    for option, value in zip(installation.options, installation.options[1:], strict=False):
        if option == "--find-links" and "://" not in value:
            yield Path(value)


def packed(folder: Path, without: Sequence[str] = ()) -> tuple[tuple[str, bytes], ...]:
    """The files of a folder, but for those in the folders `without`, and but for very large ones."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] not in without and path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            found.append((name.as_posix(), path.read_bytes()))
    return tuple(found)


def unpack(files: Sequence[tuple[str, bytes]], folder: Path) -> None:
    """Write them into `folder`. Raises `OSError`."""
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@dataclass(frozen=True, slots=True)
class Lost:
    """News of a job whose GPU must not be trusted: it keeps that GPU, so that nobody else is given it."""

    text: str
