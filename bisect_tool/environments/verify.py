"""Whether the files of the environments are still as they were installed.

Files of environments are hard links into uv's cache. A repro that writes into an installed file therefore changes it for
every environment of that wheel, now and later, and results would be about a build that nobody published.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.room import Occupant, occupants
from bisect_tool.environments.thin import MARKER, wrong_files


@dataclass(frozen=True, slots=True)
class Finding:
    """A file of the package under test that is not as its wheel says; `file` is relative to the site-packages."""

    folder: Path
    package: str
    version: str
    file: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{self.package} {self.version}: {self.file} {self.problem}\n"
            f"  where: {self.folder}\n"
            "  next:  `bisect cache verify --remove` removes this environment, so that it is made again"
        )


def verify(cache: CacheFolder) -> list[Finding]:
    """Compare the package under test of every ready environment with the hashes in its RECORD.

    An environment that another process makes or removes at this moment is waited for. RECORD itself and compiled files,
    which Python writes, are not looked at, nor are files that RECORD does not name.
    """
    findings: list[Finding] = []
    for occupant in occupants(cache):
        with locks.shared(cache.locks / f"{occupant.folder.name}.lock"):
            if occupant.state == "ready" and occupant.folder.exists():
                findings += [
                    Finding(occupant.folder, occupant.package, occupant.version, file, problem)
                    for file, problem in _problems(occupant)
                ]
    return findings


def _problems(occupant: Occupant) -> Iterator[tuple[str, str]]:
    record = _record_of(occupant)
    if record is None:
        yield f"{occupant.package}/RECORD", "is missing"
        return
    if record.parent.is_symlink():  # files that are laid over another environment, which is looked at for itself
        if (occupant.folder / MARKER).exists():
            yield from ((file, "was changed") for file in wrong_files(record.parent.parent, occupant.folder))
        return
    packages = record.parent.parent
    with record.open(encoding="utf-8", errors="surrogateescape", newline="") as lines:
        for row in csv.reader(lines):
            name, expected = row[0] if row else "", row[1] if len(row) > 1 else ""
            if not name or packages / name == record or name.endswith(".pyc"):
                continue
            if problem := _problem(packages / name, expected):
                yield name.encode("utf-8", "backslashreplace").decode(), problem


def _record_of(occupant: Occupant) -> Path | None:
    """The list of files of the package under test, where it is installed."""
    wanted = canonicalize_name(occupant.package)
    for path in sorted(occupant.folder.glob("venv/lib/python*/site-packages/*.dist-info/RECORD")):
        if canonicalize_name(path.parent.name.partition("-")[0]) == wanted:
            return path
    return None


def _problem(path: Path, expected: str) -> str | None:
    """What is wrong with a file whose RECORD entry is `expected` (`sha256=…`; empty: anything)."""
    algorithm, _, digest = expected.partition("=")
    try:
        if not digest or algorithm not in hashlib.algorithms_available:
            return None if path.is_file() else "is missing"
        with path.open("rb") as file:
            found = hashlib.file_digest(file, algorithm).digest()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if base64.urlsafe_b64encode(found).rstrip(b"=").decode() == digest.rstrip("=") else "was changed"
