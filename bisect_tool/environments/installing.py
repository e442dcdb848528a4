"""Installing a build into a fresh virtual environment, and telling whose fault it is when that fails."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

from packaging.requirements import Requirement

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.uv import Download, Uv
from bisect_tool.environments.uv_errors import Blame, UvFailure
from bisect_tool.errors import (
    BisectError,
    CacheNotWritable,
    DiskFull,
    DownloadFailed,
    MachineFault,
    PythonMissing,
    RequirementsUnmet,
)

ATTEMPTS = 3
PAUSES = (1.0, 5.0)  # seconds before the second and the third attempt
# What a build needs is often uploaded hours after it; the second figure is for the rare late pin.
GRACE = (timedelta(days=1), timedelta(days=14))
HOOK = Path(__file__).with_name("exception_hook.py")


class NotInstallable(Exception):
    """The build cannot be installed on this interpreter and platform; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to install. `as_of`: other requirements are resolved as of this moment; None when the index has no times."""

    build: Build
    installation: Installation
    interpreter: Interpreter
    requires: tuple[str, ...]
    base_system: bool
    as_of: datetime | None


def install(
    order: Order,
    venv: Path,
    uv: Uv,
    *,
    on_download: Callable[[Download], None],
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Make `venv` and install the build and what it needs; gives notes for the report.

    Raises `NotInstallable` when the build is to blame, a `BisectError` when it is not.
    """
    _make_venv(order, venv, uv)
    notes: list[str] = []
    for grace in GRACE:
        failure = _attempts(order, venv, uv, grace, on_download, on_trouble, sleep)
        if failure is None:
            _add_hook(venv)
            return notes
        if order.as_of is None or grace == GRACE[-1] or failure.blame is not Blame.UNSATISFIABLE:
            raise _blamed(order, uv, failure)
        notes.append(f"nothing fits as of {order.as_of + grace:%Y-%m-%d}: {failure.reason}")
    return notes


def _make_venv(order: Order, venv: Path, uv: Uv) -> None:
    words = ["venv", "--no-project", "--python", str(order.interpreter.path)]
    if order.base_system:
        words.append("--system-site-packages")
    made = uv.call(*words, str(venv))
    if isinstance(made, UvFailure):
        raise _fault(order, made)
    if order.base_system and order.interpreter.in_environment:
        # The base of a virtual environment is the interpreter under it, not its packages: name them.
        (_purelib(venv) / "_bisect_base.pth").write_text(f"{order.interpreter.purelib}\n")


def _attempts(
    order: Order,
    venv: Path,
    uv: Uv,
    grace: timedelta,
    on_download: Callable[[Download], None],
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None],
) -> UvFailure | None:
    """Try again what the network or a damaged download spoiled; None when it worked."""
    for attempt in range(1, ATTEMPTS + 1):
        refresh = ("--refresh-package", order.build.package) if attempt > 1 else ()
        done = uv.call(*_words(order, venv, grace), *refresh, progress=on_download)
        if not isinstance(done, UvFailure):
            return None
        if done.blame not in (Blame.NETWORK, Blame.DAMAGED) or attempt == ATTEMPTS:
            return done
        on_trouble(done.reason, attempt, ATTEMPTS)
        sleep(PAUSES[attempt - 1])
    return None


def _words(order: Order, venv: Path, grace: timedelta) -> list[str]:
    words = ["pip", "install", "--python", str(venv / "bin" / "python"), "--only-binary", ":all:"]
    words += order.installation.options
    if order.installation.offline:
        words.append("--offline")
    if order.base_system:
        words.append("--no-deps")
    if order.as_of is not None:
        words += ["--exclude-newer", f"{order.as_of + grace:%Y-%m-%dT%H:%M:%SZ}"]
        for name in _pinned(order.requires):
            words += ["--exclude-newer-package", f"{name}=2999-01-01"]
    return [*words, order.installation.requirement, *order.requires]


def _pinned(requires: tuple[str, ...]) -> list[str]:
    """Requirements that name one version: they are meant as written, also when that version is newer than the build."""
    needs = [Requirement(text) for text in requires]
    return [need.name for need in needs if any(part.operator in ("==", "===") for part in need.specifier)]


def _purelib(venv: Path) -> Path:
    return next((venv / "lib").glob("python*")) / "site-packages"


def _add_hook(venv: Path) -> None:
    """Put the exception hook into the environment: new files, because installed ones are hard links into uv's cache."""
    packages = _purelib(venv)
    (packages / "_bisect_exception_hook.py").write_bytes(HOOK.read_bytes())
    (packages / "_bisect_exception_hook.pth").write_text("import _bisect_exception_hook\n")


def _blamed(order: Order, uv: Uv, failure: UvFailure) -> Exception:
    """The exception for a failure that stays: the build's fault only where that is certain."""
    if failure.blame in (Blame.MALFORMED, Blame.UNFIT):
        return NotInstallable(failure.reason)
    if failure.blame is Blame.UNSATISFIABLE:
        return _requirements(order, uv, failure)
    # An address spells the `+` of a version as `%2B`.
    gone = order.build.filename in unquote(failure.text) and any(
        code in failure.text for code in ("(404 ", "(410 ", "(403 ")
    )
    if failure.blame is Blame.NETWORK and gone:
        return NotInstallable("the index lists its wheel but does not have it")
    if failure.blame is Blame.DAMAGED and _is_damaged_at_the_source(order.build):
        return NotInstallable(f"its wheel is damaged: {failure.reason}")
    return _fault(order, failure)


def _requirements(order: Order, uv: Uv, failure: UvFailure) -> Exception:
    """No solution: because of what the build needs, or because of what the spec asks for?"""
    if order.requires:
        alone = uv.call(
            "pip", "compile", "--quiet", "--python-version", order.interpreter.version, "--only-binary", ":all:",
            *order.installation.options, "-", stdin="\n".join(order.requires),
        )  # fmt: skip
        if isinstance(alone, UvFailure) and alone.blame is Blame.UNSATISFIABLE:
            return RequirementsUnmet(
                f"what the spec requires cannot be had: {alone.reason}",
                where=", ".join(order.requires),
                advice="correct `requires:` in the spec",
            )
    if order.installation.offline:
        return RequirementsUnmet(
            f"the wheelhouse does not hold everything that {order.build.filename} needs: {failure.reason}",
            where=order.build.location,
            advice="add the missing wheels to the folder, use `base: system` if the interpreter has them, or name an index "
            "with --index",
        )
    return NotInstallable(f"its requirements cannot be met: {failure.reason}")


def _is_damaged_at_the_source(build: Build) -> bool:
    """Whether the published file itself is the damaged one: its hash is the one that the index gives."""
    if build.sha256 is None:
        return False
    if "://" not in build.location:
        return _hash_of_file(Path(build.location)) == build.sha256
    import requests

    digest = hashlib.sha256()
    try:
        with requests.get(build.location, stream=True, timeout=(10, 120)) as answer:
            answer.raise_for_status()
            for block in answer.iter_content(1 << 20):
                digest.update(block)
    except requests.RequestException:
        return False
    return digest.hexdigest() == build.sha256


def _hash_of_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _fault(order: Order, failure: UvFailure) -> BisectError:
    """The error that stops the run: the machine, the network or the cache is to blame."""
    where = f"{order.build.package} {order.build.version}"
    again = "then run the same command again: it goes on from where it stopped"
    match failure.blame:
        case Blame.DISK:
            return DiskFull(
                f"no space is left on the disk: {failure.reason}",
                where=where,
                advice="make room with `bisect cache prune`, or name a folder on a larger disk with --cache",
            )
        case Blame.PERMISSION:
            return CacheNotWritable(failure.reason, where=where, advice="name a folder of your own with --cache")
        case Blame.PYTHON:
            return PythonMissing(failure.reason, where=where, advice="name another Python with `python:` or --python")
        case Blame.NETWORK | Blame.DAMAGED:
            return DownloadFailed(
                f"a wheel could not be fetched in {ATTEMPTS} attempts: {failure.reason}",
                where=where,
                advice=f"look at the network or the index, {again}",
            )
        case _:
            return MachineFault(
                f"uv failed in a way that says nothing about the build: {failure.reason}", where=where, advice=again
            )
