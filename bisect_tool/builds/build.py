"""A build: one installable wheel of the package under test, and the listing of builds that a channel gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from pathlib import Path

from packaging.tags import Tag

from bisect_tool.builds.python_files import PythonFiles


@dataclass(frozen=True, slots=True)
class Build:
    """One wheel. Two wheels of one version on one day are two builds.

    `version` is the string that the index uses; `date` is the one inside the version when it has one, else the upload
    time (UTC, aware), else None. `sha256` is hexadecimal, `size` in bytes. `location` is an address or a file path.

    `variant` is the CUDA variant (`cu130`, `cpu`). `python` is the Python version that it was chosen for, where a channel
    had to take several (`3.11`); None: the one that was wanted. `revision` is the commit that the build itself names,
    `main_revision` the commit of the main line that it stands for, where that is another one (PyTorch's nightly branch).
    `hidden`: it can be had, but the index does not list it. `fingerprint` tells one content of the file from another
    where the place gives no hash: its ETag or time of modification.

    A commit is a build too: its `revision` is the commit, its `version` the first digits of it. `is_source` says that it is
    built from its source; `base` is the build whose binaries its Python files are laid over. `is_thin`: so are those of a
    wheel, of which nothing else is fetched (`docs/speed.md`).
    """

    package: str
    version: str
    filename: str
    location: str
    date: datetime | None = None
    sha256: str | None = None
    size: int | None = None
    variant: str | None = None
    revision: str | None = None
    yanked: str | None = None
    python: str | None = None
    main_revision: str | None = None
    hidden: bool = False
    fingerprint: str | None = None
    base: Build | None = None
    is_source: bool = False
    is_thin: bool = False

    @property
    def label(self) -> str:
        """What reports call it: the version, with the Python version where that is not the one that was wanted."""
        return f"{self.version} (Python {self.python})" if self.python else self.version

    @property
    def identity(self) -> str:
        """What results are stored under: the content of the file where it is known, never its name alone.

        A fingerprint says it all: the size may be known only some of the time.
        """
        if self.base is not None and self.is_thin:
            own = replace(self, base=None, is_thin=False).identity
            return f"thin:{hashlib.sha256(own.encode()).hexdigest()[:32]} over {self.base.identity}"
        if self.base is not None:
            return f"commit:{self.revision} over {self.base.identity}"
        if self.is_source:
            return f"commit:{self.revision}"
        if self.sha256:
            return f"sha256:{self.sha256}"
        if self.fingerprint:
            return f"file:{self.filename}:{self.fingerprint}"
        return f"file:{self.filename}:{self.size}:{self.date.isoformat() if self.date else '-'}"


class LeftOutBecause(Enum):
    """Why a version that the index has is not among the builds."""

    YANKED = "yanked"
    PRE_RELEASE = "a pre-release"
    NO_WHEEL = "without a wheel for this Python and platform"
    DEVICE = "not for this GPU or its driver"
    PYTHON = "for other Python versions"
    DATE = "not of the dates asked for"
    MISSING = "missing"
    SAME_COMMIT = "the same commit as another one"
    NO_PYTHON = "without a change of the package's Python files"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A version that was not considered; `detail` is the reason that the index gives, for instance of a yank."""

    version: str
    date: datetime | None
    because: LeftOutBecause
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What a wheel must fit: the Python version (`3.11.7`) and the tags that it takes, best first."""

    python: str
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """What the builds are to run on: `device` is `cpu` or `cuda`.

    `driver` is the version of the GPU's driver (`580.65.06`), `capability` its architecture ((9, 0) for an H200); None
    where it is not known.
    """

    device: str = "cpu"
    driver: str | None = None
    capability: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of commits that a coarser channel has found: `base` and what came after it until `head`, full hashes.

    `over` is the build whose binaries are taken for all of them, the one after the stretch, from the channel `over_channel`;
    its `main_revision` is the commit that it was built from. None: every commit is built from source.
    """

    base: str
    head: str
    over: Build | None = None
    over_channel: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to ask of a channel.

    `variant` is one of the channel's, or `auto`. `from_` and `to` are the bounds as the user gave them: a channel need not
    list what lies outside, where listing costs something. `target` is for the Python that is preferred; a channel whose
    builds of `target` do not cover the range may take some of `other_targets`. `spans`, where there are any, are the stretches
    of commits to list, instead of what the bounds say.
    """

    package: str
    target: Target
    pre: bool = False
    yanked: bool = False
    variant: str = "auto"
    from_: str | None = None
    to: str | None = None
    machine: Machine = Machine()
    other_targets: tuple[Target, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """The builds of a package in their order in time, oldest first, and what was left out.

    `dated` says that the order is that of the dates (a stream of nightlies) and not that of the versions. `source` names
    the index or the folder for people. `has_upload_times` says whether requirements can be resolved as of a date there.
    `notes` are sentences about the choice: the variant, the Python version. `is_bounded`: the builds are those of the range
    already, in an order that neither dates nor versions tell (commits).

    Two neighbours of one date with different variants or Python versions are a seam: the code is the same on both sides.
    """

    builds: tuple[Build, ...]
    left_out: tuple[LeftOut, ...]
    source: str
    dated: bool = False
    has_upload_times: bool = True
    notes: tuple[str, ...] = ()
    is_bounded: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs between the commit of the binaries and the one that is laid over them.

    `path` is that in the repository. `content` is None where the commit does not have the file; `was` is git's hash of the
    content that the commit of the binaries has, None where that has none.
    """

    path: str
    content: bytes | None = field(repr=False)
    was: str | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """Files to be laid over the environment of `Build.base`.

    `folders` are the top folders that the files belong to. `under` says how the base is installed, `changes` gives the files;
    it may raise `HistoryUnavailable`. `python` takes the place of `changes` for the Python part of another wheel; it may raise
    `IndexUnreachable` and `NotReadable`.
    """

    folders: tuple[str, ...]
    under: Callable[[], Installation] = field(repr=False)
    changes: Callable[[], tuple[FileChange, ...]] = field(repr=False)
    python: Callable[[], PythonFiles] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Installation:
    """How uv is told to install a build: the requirements and the options that say where everything comes from.

    The first requirement is the build itself; more are files that must be named so that uv takes the right ones.
    `constraints` are requirements that hold for whatever else is installed, unless the spec pins that package. `overrides`
    are requirements that replace those of every package. `instead_of` are names (in canonical form) that the spec requires
    and that `requirements` already serve.

    A commit has no file yet: with `check_out`, which writes its source into a folder (and may raise `HistoryUnavailable`),
    a wheel is built first. With `layer`, nothing is installed: the files are laid over the environment of the base.
    """

    requirements: tuple[str, ...]
    options: tuple[str, ...] = ()
    offline: bool = False
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    instead_of: frozenset[str] = frozenset()
    check_out: Callable[[Path], None] | None = field(default=None, repr=False)
    layer: Layer | None = None
