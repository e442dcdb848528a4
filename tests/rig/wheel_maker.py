"""Makes real wheels on the fly: small, valid, the same bytes every time, and thousands in a few seconds.

The time of the file on disk is the upload time that `tests.rig.index` serves, and a file ``NAME.whl.yanked`` next to
a wheel holds the reason of its yank, so that a folder of wheels says everything about itself.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

STAMP = (2020, 1, 1, 0, 0, 0)  # of every member: the bytes depend on the content alone


class WheelFault(Enum):
    """Ways in which a wheel can be wrong by itself; what an index does wrong is in `tests.rig.index_faults`."""

    OTHER_VERSION_INSIDE = "METADATA names a version that the file name does not"
    RAISES_AT_IMPORT = "every module raises ImportError at its first line"
    NO_MODULE = "no module inside"
    TRUNCATED = "the second half of the file is missing"
    NOT_A_ZIP = "an HTML page under the name of a wheel"
    WRONG_RECORD = "RECORD has wrong hashes"
    BROKEN_METADATA = "METADATA has no name and no version"


def escaped(name: str) -> str:
    """A distribution name as wheel file names spell it (`Toy.Nightly` gives `toy_nightly`)."""
    return re.sub(r"[-_.]+", "_", name).lower()


def wheel_filename(package: str, version: str, tag: str = "py3-none-any", build_number: str | None = None) -> str:
    """The file name of a wheel; `build_number` must begin with a digit."""
    parts = (escaped(package), version, *((build_number,) if build_number else ()), tag)
    return "-".join(parts) + ".whl"


def make_wheel(
    folder: Path,
    package: str,
    version: str,
    *,
    modules: Mapping[str, str],
    requires: Iterable[str] = (),
    requires_python: str | None = None,
    tag: str = "py3-none-any",
    build_number: str | None = None,
    metadata_version_override: str | None = None,
    broken: Collection[WheelFault] = (),
    uploaded: datetime | None = None,
    yanked: str | None = None,
) -> Path:
    """Write a wheel into `folder` and give its path.

    `modules` maps paths inside the wheel (`toy/__init__.py`) to their text. `metadata_version_override` is the version
    that METADATA names instead of `version`. `uploaded` becomes the time of the file.
    """
    other = "0.0.0" if WheelFault.OTHER_VERSION_INSIDE in broken else version
    metadata = metadata_text(package, metadata_version_override or other, requires, requires_python)
    content = wheel_content(package, version, modules=modules, metadata=metadata, tag=tag, broken=broken)
    return _put(folder / wheel_filename(package, version, tag, build_number), content, uploaded, yanked)


def wheel_content(
    package: str,
    version: str,
    *,
    modules: Mapping[str, str],
    metadata: str,
    tag: str = "py3-none-any",
    broken: Collection[WheelFault] = (),
) -> bytes:
    """The bytes of a wheel whose METADATA is `metadata`."""
    members = wheel_members(package, version, modules=modules, metadata=metadata, tag=tag, broken=broken)
    return _damaged(_zipped(members), broken)


def wheel_members(
    package: str,
    version: str,
    *,
    modules: Mapping[str, str],
    metadata: str,
    tag: str,
    broken: Collection[WheelFault] = (),
) -> dict[str, str]:
    """The files in a wheel whose METADATA is `metadata`, RECORD last."""
    members = dict(_code(modules, broken))
    info = f"{escaped(package)}-{version}.dist-info"
    members[f"{info}/METADATA"] = "Metadata-Version: 2.1\n" if WheelFault.BROKEN_METADATA in broken else metadata
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: rig\nRoot-Is-Purelib: true\nTag: {tag}\n"
    members[f"{info}/RECORD"] = _record(members, f"{info}/RECORD", WheelFault.WRONG_RECORD in broken)
    return members


def make_sdist(
    folder: Path, package: str, version: str, *, uploaded: datetime | None = None, yanked: str | None = None
) -> Path:
    """Write a source distribution that cannot be built: it is there to be listed, not to be installed."""
    stem = f"{escaped(package)}-{version}"
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        text = metadata_text(package, version).encode()
        member = tarfile.TarInfo(f"{stem}/PKG-INFO")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return _put(folder / f"{stem}.tar.gz", buffer.getvalue(), uploaded, yanked)


def _put(path: Path, content: bytes, uploaded: datetime | None, yanked: str | None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    moment = (uploaded or datetime(*STAMP, tzinfo=UTC)).timestamp()
    os.utime(path, (moment, moment))
    note = path.with_name(path.name + ".yanked")
    if yanked is None:
        note.unlink(missing_ok=True)
    else:
        note.write_text(yanked, encoding="utf-8")
    return path


def _code(modules: Mapping[str, str], broken: Collection[WheelFault]) -> Mapping[str, str]:
    if WheelFault.NO_MODULE in broken:
        return {}
    if WheelFault.RAISES_AT_IMPORT in broken:
        fault = 'raise ImportError("libtoy.so.1: cannot open shared object file: No such file or directory")\n'
        return {path: fault + text for path, text in modules.items()}
    return modules


def metadata_text(package: str, version: str, requires: Iterable[str] = (), requires_python: str | None = None) -> str:
    """METADATA of a wheel that needs `requires`."""
    lines = ["Metadata-Version: 2.1", f"Name: {package}", f"Version: {version}", "Summary: made by the test rig"]
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    return "\n".join(lines) + "\n"


def _record(members: Mapping[str, str], own_path: str, wrong: bool) -> str:  # noqa: FBT001
    lines = []
    for path, text in members.items():
        content = text.encode()
        digest = hashlib.sha256(b"wrong" + content if wrong else content).digest()
        lines.append(f"{path},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},{len(content)}")
    return "\n".join([*lines, f"{own_path},,"]) + "\n"


def _zipped(members: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in members.items():
            member = zipfile.ZipInfo(path, STAMP)
            member.external_attr = 0o644 << 16
            archive.writestr(member, text.encode())
    return buffer.getvalue()


def _damaged(content: bytes, broken: Collection[WheelFault]) -> bytes:
    if WheelFault.NOT_A_ZIP in broken:
        return b"<html><body>Service temporarily unavailable</body></html>\n"
    return content[: len(content) // 2] if WheelFault.TRUNCATED in broken else content
