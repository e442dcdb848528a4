"""uv, which makes the environments."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.environments.uv import find_uv
from bisect_tool.errors import UvMissing
from bisect_tool.reports.checkup import Finding
from bisect_tool.runs.doctor.place import Place

ORDER = 30


def check(place: Place) -> Iterator[Finding]:
    """Its version and place."""
    try:
        uv = find_uv(place.settings.cache / "uv", place.environ)
    except UvMissing as error:
        yield Finding(about="uv", level="problem", says=error.what, fix=error.advice)
        return
    printed = place.call([str(uv.program), "--version"])
    if printed is None:
        says, fix = f"{uv.program} does not run", "install it again: `python -m pip install --upgrade uv`"
        yield Finding(about="uv", level="problem", says=says, fix=fix)
        return
    version = printed.strip()
    facts = {"version": version, "path": str(uv.program)}
    yield Finding(about="uv", level="ok", says=f"{version} at {uv.program}", facts=facts)
