"""The Python versions that builds can run on: those that are here, and those that uv can fetch."""

from __future__ import annotations

import json
import platform
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.environments.uv import find_uv
from bisect_tool.errors import UvMissing
from bisect_tool.reports.checkup import Finding
from bisect_tool.runs.doctor.place import Place

ORDER = 40


def check(place: Place) -> Iterator[Finding]:
    """The versions, the one that was asked for, and the headers that Triton and Inductor compile against."""
    own = platform.python_version()
    found = _versions(place)
    if found is None:
        says = f"{own} runs bisect; uv does not say which others there are"
        yield Finding(
            about="python", level="warning", says=says, fix="look at `uv python list`, which fails or takes long"
        )
        yield from _headers()
        return
    here, fetchable = found
    known = sorted({*here, own}, key=_key)
    says = f"{own} runs bisect; here: {', '.join(known)}"
    says += f"; uv can fetch from GitHub: {', '.join(sorted(fetchable - here, key=_key))}" if fetchable - here else ""
    facts = {"own": own, "here": known, "fetchable": sorted(fetchable, key=_key)}
    yield Finding(about="python", level="ok", says=says, facts=facts)
    yield from _asked(place.asked.python, here | {own}, fetchable)
    yield from _headers()


def _versions(place: Place) -> tuple[set[str], set[str]] | None:
    """Full versions that are installed, and minor versions that can be fetched; None when uv does not tell."""
    try:
        uv = find_uv(place.settings.cache / "uv", place.environ)
    except UvMissing:
        return None
    listed = place.call([str(uv.program), "python", "list", "--no-config", "--output-format", "json"])
    try:
        rows = [row for row in json.loads(listed or "") if row.get("implementation") == "cpython"]
    except ValueError:
        return None
    usual = [row for row in rows if row.get("variant", "default") == "default" and _is_final(str(row["version"]))]
    here = {str(row["version"]) for row in usual if row.get("path")}
    return here, {_minor(str(row["version"])) for row in usual if not row.get("path")}


def _asked(python: str | None, here: set[str], fetchable: set[str]) -> Iterator[Finding]:
    if python is None or "/" in python:
        return
    wanted = python.removesuffix("t")
    if any(version == wanted or version.startswith(f"{wanted}.") for version in here):
        yield Finding(about="python", level="ok", says=f"{python}, which was asked for, is here")
    elif _minor(wanted) in {_minor(one) for one in fetchable}:
        says = f"{python}, which was asked for, has to be fetched by uv from GitHub"
        fix = "without that network: install it, or name a mirror in UV_PYTHON_INSTALL_MIRROR"
        yield Finding(about="python", level="warning", says=says, fix=fix)
    else:
        says = f"{python}, which was asked for, is neither here nor known to uv"
        yield Finding(about="python", level="problem", says=says, fix="name another one with --python")


def _headers() -> Iterator[Finding]:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        says = f"no header files of Python ({header}): Triton and Inductor cannot compile with this interpreter"
        fix = "install them (Debian: `apt-get install python3-dev`), or let uv fetch a Python, which has them"
        yield Finding(about="python", level="warning", says=says, fix=fix)


def _is_final(version: str) -> bool:
    return version.replace(".", "").isdigit()


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
