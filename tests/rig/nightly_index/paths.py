"""What a path of the index means. `index.html` is put behind a path whose last part has no dot or is ``rocmN.N``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.rig.index_state import RequestKind
from tests.rig.nightly_index.catalogue import PREFIX

_VARIANT = re.compile(r"cu[0-9]+|rocm[0-9]+(\.[0-9]+)+|cpu|xpu")


@dataclass(frozen=True, slots=True)
class Asked:
    """`name` is the package of a page or the name of a file, `folder` the variant of a page, `key` the wheel's path."""

    kind: RequestKind
    name: str
    folder: str = ""
    key: str = ""


def asked_for(path: str) -> Asked:
    """The meaning of an unquoted path without its first slash."""
    inside = path.removesuffix("/index.html").strip("/")
    if inside != PREFIX and not inside.startswith(f"{PREFIX}/"):
        return Asked(RequestKind.OTHER, path)
    last = inside.rpartition("/")[2]
    if last.endswith((".whl", ".whl.metadata")):
        kind = RequestKind.METADATA if last.endswith(".metadata") else RequestKind.FILE
        return Asked(kind, last, key=inside.removesuffix(".metadata"))
    if "." in last and not _VARIANT.fullmatch(last):
        return Asked(RequestKind.OTHER, path)
    return _page(inside.removeprefix(PREFIX).strip("/").split("/"), path)


def _page(parts: list[str], path: str) -> Asked:
    match parts:
        case [""]:
            return Asked(RequestKind.ROOT, "")
        case [only] if _VARIANT.fullmatch(only):
            return Asked(RequestKind.ROOT, "", only)
        case [package]:
            return Asked(RequestKind.PAGE, package)
        case [variant, package] if _VARIANT.fullmatch(variant):
            return Asked(RequestKind.PAGE, package, variant)
        case _:
            return Asked(RequestKind.OTHER, path)
