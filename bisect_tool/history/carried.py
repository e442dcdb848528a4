"""The revision that a wheel carries: in its version, in a module that its build wrote, in its metadata."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.builds.versions import parsed

# `2.14.0.dev1+gitabc1234` (torch from source, triton), `1.2+gabc1234.d20260102` (setuptools_scm), `2.1.0+e6216047b8` (triton).
_LOCAL = re.compile(r"(?:git|g)?(?P<sha>[0-9a-f]{7,40})(?:\.|$)")
_MODULES = re.compile(r"[^/]+/(?:[^/]+/)?_?(?:git_)?(?:version|revision)(?:_info)?\.py")
_METADATA = re.compile(r"[^/]+\.dist-info/(?:direct_url|pbr)\.json")
# torch: git_version; numpy, scipy: git_revision; setuptools_scm: commit_id; versioneer: "full-revisionid".
_ASSIGNED = re.compile(
    r"""(?:git_version|git_revision|git_hash|git_sha|full-revisionid|commit_id|commit|revision)["']?(?::\s*[\w| ]+)?"""
    r"""\s*[:=]\s*["']g?(?P<sha>[0-9a-f]{7,40})["']"""
)
_MOST_BYTES = 1_000_000


def revision_in_version(version: str) -> str | None:
    """The abbreviated hash in the local part of a version, None when there is none. `cu126` is none, nor is a plain number."""
    read = parsed(version)
    local = read.local if read is not None and read.local else ""
    found = _LOCAL.match(local)
    return found["sha"] if found and (local.startswith("g") or not found["sha"].isdecimal()) else None


def revision_in_wheel(wheel: Path, package: str) -> str | None:
    """The revision inside a wheel file, None when it carries none or cannot be read as one."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = {member.filename: member for member in archive.infolist() if member.file_size < _MOST_BYTES}
            names = [name for name in members if _MODULES.fullmatch(name) or _METADATA.fullmatch(name)]
            return _first((name, archive.read(name)) for name in _likely_first(names, package))
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        return None


def revision_in_folder(packages: Path, package: str) -> str | None:
    """The revision of an installed distribution; `packages` is the site-packages folder."""
    found = [*packages.glob("*/*.py"), *packages.glob("*.dist-info/*.json"), *packages.glob("*/*/*version*.py")]
    paths = {path.relative_to(packages).as_posix(): path for path in found if path.is_file()}
    names = [name for name in paths if _MODULES.fullmatch(name) or _METADATA.fullmatch(name)]
    own = [name for name in names if _is_of(name, package)]
    return _first((name, _head(paths[name])) for name in _likely_first(own, package))


def _first(contents: Iterable[tuple[str, bytes]]) -> str | None:
    return next((sha for name, content in contents for sha in _revisions(name, content)), None)


def _revisions(name: str, content: bytes) -> Iterator[str]:
    text = content.decode("utf-8", "replace")
    if name.endswith(".json"):
        yield from _from_json(text)
    elif found := _ASSIGNED.search(text):
        yield found["sha"]


def _from_json(text: str) -> Iterator[str]:
    """`direct_url.json` of an installation from a repository, `pbr.json` of one that pbr built."""
    try:
        content = json.loads(text)
    except ValueError:
        return
    if not isinstance(content, dict):
        return
    vcs = content.get("vcs_info")
    candidates = (vcs.get("commit_id") if isinstance(vcs, dict) else None, content.get("git_version"))
    yield from (one for one in candidates if isinstance(one, str) and re.fullmatch(r"[0-9a-f]{7,40}", one))


def _likely_first(names: Iterable[str], package: str) -> list[str]:
    """Metadata, then the module of the package itself, then what else is called so, nearer to the top first."""
    return sorted(
        names, key=lambda name: (not name.endswith(".json"), not _is_of(name, package), name.count("/"), name)
    )


def _is_of(name: str, package: str) -> bool:
    top = name.split("/", 1)[0].removesuffix(".dist-info")
    own = canonicalize_name(package)
    return canonicalize_name(top) in {own, own.removesuffix("-nightly")} or canonicalize_name(top.split("-")[0]) == own


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)
