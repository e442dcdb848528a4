"""Which repository a package comes from, and how its builds name their commits. Data: a project is one entry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from packaging.utils import canonicalize_name

from bisect_tool.errors import SettingError

GITHUB = "https://github.com"


class DatedBuilds(StrEnum):
    """How a build whose version has a date leads to a commit.

    `NIGHTLY_BRANCH`: a branch with one commit a night whose subject names the commit of main.
    `COMMIT_TIME`: whatever the branch held at that time; the time of the build may be some minutes later.
    """

    NIGHTLY_BRANCH = "nightly branch"
    COMMIT_TIME = "commit time"


@dataclass(frozen=True, slots=True)
class Project:
    """A repository on GitHub (or a server like it): `repository` is `owner/name`, `web` the address of the server.

    `tags` are patterns of release tags, tried in order. `branch` is where development happens. `written_by_build` are files of
    the wheel that its build writes anew.
    """

    repository: str
    packages: tuple[str, ...] = ()
    branch: str = "main"
    nightly_branch: str | None = None
    tags: tuple[str, ...] = ("v{version}", "{version}")
    dated: DatedBuilds = DatedBuilds.COMMIT_TIME
    web: str = GITHUB
    written_by_build: tuple[str, ...] = ()

    def source_name(self, package: str) -> str:
        """What the source calls a package: nightlies are published under names of their own (`keras-nightly`: `keras`)."""
        return self.packages[0] if canonicalize_name(package) in self.packages else package

    @property
    def address(self) -> str:
        """The page of the repository."""
        return f"{self.web}/{self.repository}"

    @property
    def api(self) -> str:
        """Where its API answers: GitHub's own, or that of a GitHub Enterprise server."""
        return "https://api.github.com" if self.web == GITHUB else f"{self.web}/api/v3"

    def compare_link(self, base: str, head: str) -> str:
        """The page that shows what `head` has and `base` has not; works without any access from here."""
        return f"{self.address}/compare/{base}...{head}"

    def commit_link(self, sha: str) -> str:
        """The page of a commit."""
        return f"{self.address}/commit/{sha}"

    def pull_link(self, number: int) -> str:
        """The page of a pull request."""
        return f"{self.address}/pull/{number}"


# Branch and tag names as the repositories had them in November 2026.
KNOWN = (
    Project(
        "pytorch/pytorch", ("torch",), nightly_branch="nightly", tags=("v{version}",), dated=DatedBuilds.NIGHTLY_BRANCH
    ),
    Project("triton-lang/triton", ("triton", "pytorch-triton", "torchtriton")),
    Project("linkedin/Liger-Kernel", ("liger-kernel", "liger-kernel-nightly")),
    Project("keras-team/keras", ("keras", "keras-nightly"), branch="master", written_by_build=("keras/__init__.py",)),
    Project("pallets/click", ("click",), tags=("{version}",)),
    Project("sympy/sympy", ("sympy",), branch="master", tags=("sympy-{version}",)),
    Project("networkx/networkx", ("networkx",), tags=("networkx-{version}",)),
)

_NAME = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}?"
_SHORT = re.compile(rf"(?P<name>{_NAME})")
_ADDRESS = re.compile(rf"https?://(?P<host>[A-Za-z0-9.:-]+)/(?P<name>{_NAME})(?:\.git)?/?")
_SSH = re.compile(rf"(?:ssh://)?git@(?P<host>[A-Za-z0-9.-]+)[:/](?P<name>{_NAME})(?:\.git)?")


def known_project(package: str) -> Project | None:
    """The project that a distribution comes from, None when the table has none."""
    name = canonicalize_name(package)
    return next((project for project in KNOWN if name in project.packages), None)


def read_source(text: str) -> Project:
    """The project that `source:` of a spec means: `owner/name`, or the address of a repository.

    Raises `SettingError`.
    """
    text = text.strip()
    found = _SHORT.fullmatch(text) or _ADDRESS.fullmatch(text) or _SSH.fullmatch(text)
    if found is None:
        raise SettingError(
            f"not a repository: {text!r}",
            where="source",
            advice="write it as owner/name, or as the address of the repository on GitHub",
        )
    host = found.groupdict().get("host") or "github.com"
    web = GITHUB if host in {"github.com", "www.github.com"} else f"https://{host}"
    name = found["name"]
    same = (p for p in KNOWN if p.web == web and p.repository.lower() == name.lower())
    return next(same, Project(name, web=web))


def project_of_address(address: str) -> Project | None:
    """As `read_source`, for the remotes of a clone: None when it is no such address."""
    try:
        return read_source(address)
    except SettingError:
        return None
