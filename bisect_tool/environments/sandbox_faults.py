"""Why the sandbox does not work on a machine, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

_SETTINGS = Path("/proc/sys")


class SandboxBroken(Exception):
    """No process can be started in a sandbox here: `what` is wrong, `where`, and what to do about it."""

    def __init__(self, what: str, advice: str, where: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice
        self.where = where


def not_installed() -> SandboxBroken:
    """There is no bubblewrap."""
    return SandboxBroken(
        "bubblewrap (`bwrap`) is not installed",
        "install the package `bubblewrap` of your distribution; `bisect doctor` says whether it works then",
    )


def explained(program: str, said: str, settings: Path = _SETTINGS) -> SandboxBroken:
    """What bubblewrap `said` when it could not start a process, with what is missing; `settings` is /proc/sys."""
    line = next((line for line in reversed(said.splitlines()) if line.strip()), said).strip()[:300]
    return SandboxBroken(f"bubblewrap cannot start a process: {line}", "; ".join(_advice(said, settings)), program)


def _advice(said: str, settings: Path) -> Iterator[str]:
    if re.search("Unknown option", said):
        yield "install bubblewrap 0.8 or newer"
    elif re.search("mount proc|/proc", said) and not re.search("uid map|namespace", said):
        yield (
            "in a container, let it have a /proc of its own: Docker's and Podman's `--security-opt systempaths=unconfined`, "
            "Kubernetes' `procMount: Unmasked`"
        )
    elif re.search("namespace|uid map|Operation not permitted|Permission denied", said):
        yield from _namespaces(settings)
    else:
        yield "start `bwrap --unshare-all --ro-bind / / true` by hand to see more"


def _namespaces(settings: Path) -> Iterator[str]:
    """Why a user may not make namespaces, as far as the kernel tells."""
    said = False
    for name, is_shut, fix in _SWITCHES:
        value = _value(settings / name)
        if value is not None and is_shut(value):
            said = True
            yield fix
    if not said:
        yield (
            "in a container, allow it to make namespaces: Docker's and Podman's `--security-opt seccomp=unconfined` (or a "
            "seccomp profile that allows clone, unshare, mount and pivot_root) and `--security-opt apparmor=unconfined`"
        )


_SWITCHES: tuple[tuple[str, Callable[[int], bool], str], ...] = (
    (
        "user/max_user_namespaces",
        lambda value: value == 0,
        "user namespaces are switched off: `sysctl -w user.max_user_namespaces=15000`",
    ),
    (
        "kernel/unprivileged_userns_clone",
        lambda value: value == 0,
        "users may make no namespaces: `sysctl -w kernel.unprivileged_userns_clone=1`",
    ),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        lambda value: value == 1,
        "AppArmor keeps users from namespaces: install its profile for bwrap, or `sysctl -w "
        "kernel.apparmor_restrict_unprivileged_userns=0`",
    ),
)


def _value(path: Path) -> int | None:
    try:
        return int(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
