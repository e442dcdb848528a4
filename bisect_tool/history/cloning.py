"""A clone of the tool's own, for a history whose files are needed and of which the user has no clone.

It is bare and whole: commits are built from it. It is made once and brought up to date when a run begins.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from filelock import FileLock

from bisect_tool.errors import HistoryUnavailable, SettingError
from bisect_tool.history.clone import open_clone
from bisect_tool.history.line import ClonedLine
from bisect_tool.history.projects import Project, known_project, read_source
from bisect_tool.history.source import HistoryAccess

SECONDS = 3600.0
_OWN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}


def open_line(package: str, source: str | None, access: HistoryAccess, tell: Callable[[str], None]) -> ClonedLine:
    """The line of development of a package, from the clone that `access` names, else from one of the tool's own.

    `source` is what the spec calls the repository. Without one, and for a package that nobody knows, only a named clone can be
    read: its own branch is the line then.

    Raises:
        SettingError: it is not known where the package is developed.
        HistoryUnavailable: no repository, or it cannot be fetched.
    """
    project = read_source(source) if source else known_project(package)
    if access.clone is not None:
        return ClonedLine(open_clone(access.clone, project or _of_clone(package, access), access.environ))
    if project is None or access.repositories is None:
        raise SettingError(
            f"it is not known where {package} is developed",
            where="source",
            advice="name its repository with `source:` in the spec, or a clone of it with --repo DIR",
        )
    folder = fetch(project, access.repositories, access, tell)
    return ClonedLine(open_clone(folder, project, access.environ))


def fetch(project: Project, repositories: Path, access: HistoryAccess, tell: Callable[[str], None]) -> Path:
    """The folder of the tool's own clone of `project`, as new as the server; when offline, as it was.

    Raises `HistoryUnavailable` when there is none and it cannot be made.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", project.repository).strip("-")
    folder = repositories / f"{name}-{hashlib.sha256(project.address.encode()).hexdigest()[:8]}.git"
    repositories.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if folder.exists():
            if not access.offline:
                tell(f"fetching what is new in {project.repository}")
                _git(access.environ, project, "-C", str(folder), "fetch", "--quiet", "--force", "--tags", "origin")
            return folder
        if access.offline:
            raise _not_fetched(project, "there is no clone yet, and the network may not be used")
        tell(f"cloning {project.repository}, once")
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        _git(access.environ, project, "clone", "--quiet", "--mirror", project.address, str(part))
        part.rename(folder)
    return folder


def _of_clone(package: str, access: HistoryAccess) -> Project:
    """A project without a server: the branch that the clone stands on, else the usual one."""
    from bisect_tool.history.git_program import Git, GitFailed

    git = Git(access.clone or Path(), access.environ)
    try:
        branch = git.call("symbolic-ref", "--short", "HEAD").decode().strip()
    except GitFailed:
        branch = "main"
    return Project(f"local/{package}", branch=branch)


def _git(environ: Mapping[str, str], project: Project, *words: str) -> None:
    command = ["git", *words]
    kept = {key: value for key, value in environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(command, env={**kept, **_OWN}, capture_output=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _not_fetched(project, f"git: {error}") from error
    if done.returncode:
        raise _not_fetched(project, done.stderr.decode("utf-8", "replace").strip()[-300:])


def _not_fetched(project: Project, why: str) -> HistoryUnavailable:
    return HistoryUnavailable(
        f"the repository {project.repository} could not be fetched: {why}",
        where=project.address,
        advice="look at the network and at `source:`, or name a clone with --repo DIR",
    )
