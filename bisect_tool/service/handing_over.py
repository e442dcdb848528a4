"""A spec with its files, as it is handed over to a server."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from bisect_tool.spec.reading import YAML, ReadSpec
from bisect_tool.spec.repro import read_repro


@dataclass(frozen=True, slots=True)
class Parcel:
    """The text of a spec, and the files that it needs as (path relative to the spec, content)."""

    spec: str
    files: tuple[tuple[str, bytes], ...]


def parcel_of(read: ReadSpec, *, is_changed: bool = False) -> Parcel:
    """The parcel of a spec: its own text, or what was read of it.

    That is where the command line says something else (`is_changed`), or where there is only a script.
    Raises `SpecError` for a file of the repro that cannot be read.
    """
    files = read_repro(read).files
    if not is_changed and read.path.suffix.lower() in YAML:
        return Parcel(read.path.read_text(encoding="utf-8"), files)
    values = read.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return Parcel(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), files)
