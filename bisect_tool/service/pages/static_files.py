"""What the pages load besides themselves: one style sheet, one script, one picture. Read once, addressed by their content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

A_DAY = "public, max-age=86400"
FOREVER = "public, max-age=31536000, immutable"
_REPORTS = files("bisect_tool.reports") / "templates"
_OWN = files("bisect_tool.service.pages") / "static"
# The pages look as the reports do: their style comes first, what the pages add comes after.
_PARTS = {
    "style.css": ("text/css; charset=utf-8", (_REPORTS / "style.css", _REPORTS / "report.css", _OWN / "pages.css")),
    "pages.js": ("text/javascript; charset=utf-8", (_OWN / "pages.js",)),
    "mark.svg": ("image/svg+xml", (_OWN / "mark.svg",)),
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file: its media type, its bytes, and the address that changes with them."""

    media: str
    content: bytes
    address: str


@cache
def static_file(name: str) -> StaticFile | None:
    """The file of this name, None when there is none."""
    if name not in _PARTS:
        return None
    media, parts = _PARTS[name]
    content = b"\n".join(part.read_bytes() for part in parts)
    return StaticFile(media, content, f"/static/{name}?v={sha256(content).hexdigest()[:12]}")


def static_address(name: str) -> str:
    """The address of a file that is there."""
    found = static_file(name)
    assert found is not None, name
    return found.address
