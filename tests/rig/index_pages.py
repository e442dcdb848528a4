"""The pages of a package index (PEP 503 HTML, PEP 691 JSON), made from a folder of wheels."""

from __future__ import annotations

import hashlib
import html
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
HTML_TYPE = "application/vnd.pypi.simple.v1+html"
ENDINGS = (".whl", ".tar.gz")


@dataclass(frozen=True, slots=True)
class ServedFile:
    """What a page says about a file; `uploaded` and `sha256` are None where the page is to keep silent about them."""

    filename: str
    size: int
    sha256: str | None
    uploaded: datetime | None
    requires_python: str | None = None
    metadata_sha256: str | None = None
    yanked: str | None = None


def project_of(filename: str) -> tuple[str, str]:
    """The normalised project and the version in the name of a wheel or source distribution.

    Raises `packaging.utils.InvalidWheelFilename` or `InvalidSdistFilename`.
    """
    if filename.endswith(".whl"):
        project, version, _, _ = parse_wheel_filename(filename)
    else:
        project, version = parse_sdist_filename(filename)
    return project, str(version)


def files_of(folder: Path, project: str) -> tuple[ServedFile, ...]:
    """The files of a project in `folder`, by name."""
    found = (path for path in folder.iterdir() if path.name.endswith(ENDINGS) and project_of(path.name)[0] == project)
    return tuple(served(path) for path in sorted(found))


def projects(folder: Path) -> tuple[str, ...]:
    """The normalised names of all projects in `folder`."""
    return tuple(sorted({project_of(path.name)[0] for path in folder.iterdir() if path.name.endswith(ENDINGS)}))


def served(path: Path) -> ServedFile:
    """What the page says about one file: read once, until size or time of the file change."""
    facts = path.stat()
    note = path.with_name(path.name + ".yanked")
    sha256, requires_python, metadata_sha256 = _content_facts(path, facts.st_size, facts.st_mtime_ns)
    return ServedFile(
        filename=path.name,
        size=facts.st_size,
        sha256=sha256,
        uploaded=datetime.fromtimestamp(facts.st_mtime, UTC),
        requires_python=requires_python,
        metadata_sha256=metadata_sha256,
        yanked=note.read_text(encoding="utf-8") if note.exists() else None,
    )


@lru_cache(maxsize=20_000)
def _content_facts(path: Path, _size: int, _time: int) -> tuple[str, str | None, str | None]:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    metadata = metadata_of(path)
    if metadata is None:
        return sha256, None, None
    requires_python = HeaderParser().parsestr(metadata.decode())["Requires-Python"]
    return sha256, requires_python, hashlib.sha256(metadata).hexdigest()


def metadata_of(path: Path) -> bytes | None:
    """METADATA of a wheel, None for a source distribution and for a wheel that cannot be opened."""
    if path.suffix != ".whl" or not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return archive.read(names[0]) if names else None


def json_page(project: str, files: Sequence[ServedFile]) -> bytes:
    """A project's page for clients that take JSON."""
    versions = list(dict.fromkeys(project_of(file.filename)[1] for file in files))
    page = {"meta": {"api-version": "1.1"}, "name": project, "versions": versions, "files": [_entry(f) for f in files]}
    return json.dumps(page, indent=1).encode()


def _entry(file: ServedFile) -> dict[str, object]:
    entry: dict[str, object] = {
        "filename": file.filename,
        "url": f"../../files/{quote(file.filename)}",
        "hashes": {"sha256": file.sha256} if file.sha256 else {},
        "size": file.size,
        "yanked": False if file.yanked is None else (file.yanked or True),
    }
    if file.requires_python:
        entry["requires-python"] = file.requires_python
    if file.uploaded:
        entry["upload-time"] = file.uploaded.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if file.metadata_sha256:
        entry["core-metadata"] = {"sha256": file.metadata_sha256}
    return entry


def html_page(project: str, files: Iterable[ServedFile]) -> bytes:
    """A project's page in HTML, which knows neither sizes nor upload times."""
    links = "\n".join(_link(file) for file in files)
    return f"<!DOCTYPE html>\n<html><head><title>{project}</title></head><body>\n{links}\n</body></html>\n".encode()


def _link(file: ServedFile) -> str:
    anchor = f"#sha256={file.sha256}" if file.sha256 else ""
    attributes = [f'href="../../files/{quote(file.filename)}{anchor}"']
    if file.requires_python:
        attributes.append(f'data-requires-python="{html.escape(file.requires_python)}"')
    if file.metadata_sha256:
        attributes.append(f'data-core-metadata="sha256={file.metadata_sha256}"')
    if file.yanked is not None:
        attributes.append(f'data-yanked="{html.escape(file.yanked)}"')
    return f"<a {' '.join(attributes)}>{file.filename}</a><br>"


def root_page(names: Iterable[str], *, as_json: bool) -> bytes:
    """The list of all projects."""
    if as_json:
        return json.dumps({"meta": {"api-version": "1.1"}, "projects": [{"name": name} for name in names]}).encode()
    links = "\n".join(f'<a href="{name}/">{name}</a><br>' for name in names)
    return f"<!DOCTYPE html>\n<html><body>\n{links}\n</body></html>\n".encode()


def is_normalised(name: str) -> bool:
    """Whether `name` is spelled as an index spells it."""
    return canonicalize_name(name) == name


def prefers_json(accept: str) -> bool:
    """Whether a client with this Accept header is to get JSON; the real index prefers it among equals."""
    json = _weight(accept, (JSON_TYPE, JSON_TYPE.replace("v1", "latest")))
    return json > 0 and json >= _weight(accept, (HTML_TYPE, "text/html"))


def _weight(accept: str, types: Sequence[str]) -> float:
    weights = [0.0]
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if name in types:
            weights.append(next((float(p[2:]) for p in parameters if p.startswith("q=")), 1.0))
    return max(weights)
