"""A build: one installable wheel of the package under test, and the listing of builds that a channel gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from packaging.tags import Tag


@dataclass(frozen=True, slots=True)
class Build:
    """One wheel. Two wheels of one version on one day are two builds.

    `version` is the string that the index uses; `date` is the one inside the version when it has one, else the upload
    time (UTC, aware), else None. `sha256` is hexadecimal, `size` in bytes. `location` is an address or a file path.
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

    @property
    def identity(self) -> str:
        """What results are stored under: the content of the file where it is known, never its name alone."""
        if self.sha256:
            return f"sha256:{self.sha256}"
        return f"file:{self.filename}:{self.size}:{self.date.isoformat() if self.date else '-'}"


class LeftOutBecause(Enum):
    """Why a version that the index has is not among the builds."""

    YANKED = "yanked"
    PRE_RELEASE = "a pre-release"
    NO_WHEEL = "without a wheel for this Python and platform"
    PYTHON = "for other Python versions"
    DATE = "not of the dates asked for"


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
class Wanted:
    """What to ask of a channel."""

    package: str
    target: Target
    pre: bool = False
    yanked: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The builds of a package in their order in time, oldest first, and what was left out.

    `dated` says that the order is that of the dates (a stream of nightlies) and not that of the versions. `source` names
    the index or the folder for people. `has_upload_times` says whether requirements can be resolved as of a date there.
    """

    builds: tuple[Build, ...]
    left_out: tuple[LeftOut, ...]
    source: str
    dated: bool = False
    has_upload_times: bool = True


@dataclass(frozen=True, slots=True)
class Installation:
    """How uv is told to install a build: one requirement and the options that say where everything comes from."""

    requirement: str
    options: tuple[str, ...] = ()
    offline: bool = False
