"""The specs of a batch: found in folders, read one by one, so that an invalid one costs the others nothing."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bisect_tool.errors import SpecError
from bisect_tool.spec.reading import ReadSpec, load_all

SPEC = "spec.yaml"
YAML = {".yaml", ".yml"}
DIGITS = 8  # of the digest behind a name that several specs have


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is a spec or a script. `key` names it by where it lies in the folder that was given: alike on every host."""

    path: Path
    key: str


@dataclass(frozen=True, slots=True)
class Member:
    """A spec of the batch: what was read, or the mistakes. `name` is what its results are called, different from all others."""

    name: str
    path: Path
    read: ReadSpec | None
    error: SpecError | None = None


def find(paths: Sequence[Path]) -> tuple[list[Found], list[str]]:
    """Every spec of `paths`, in a fixed order, each file once; with a note on each that was given more than once.

    A folder with a `spec.yaml` is that spec, whatever else lies in it; of other folders every `*.yaml` and `*.yml` is one, and
    everything below. Hidden folders are left alone. A file that is named is taken as it is, a script too.

    Raises `SpecError` when that gives nothing.
    """
    seen: dict[Path, Found] = {}
    notes: list[str] = []
    for given in paths:
        for one in _found_in(given):
            same = seen.setdefault(one.path.resolve(), one)
            if same is not one:
                notes.append(f"{one.path} is given twice ({same.path}): it is answered once")
    if not seen:
        raise SpecError(
            "no spec is there",
            where=", ".join(map(str, paths)),
            advice="name a folder that has spec.yaml or other *.yaml files in it, or the specs themselves",
        )
    return list(seen.values()), notes


def _found_in(given: Path) -> Iterator[Found]:
    if not given.is_dir() or (given / SPEC).exists():
        yield Found(given / SPEC if given.is_dir() else given, given.name)
        return
    for path in _below(given):
        yield Found(path, path.relative_to(given).as_posix())


def _below(folder: Path) -> Iterator[Path]:
    entered: set[Path] = set()
    for place, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        if (real := Path(place).resolve()) in entered:  # a link to a folder above it, or beside
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(place)
        if SPEC in files:
            folders.clear()
            yield here / SPEC
            continue
        yield from (here / name for name in sorted(files) if Path(name).suffix in YAML and not name.startswith("."))


def _refuse(error: OSError) -> None:
    raise SpecError(
        f"a folder of specs cannot be read: {error.strerror}",
        where=str(error.filename),
        advice="correct its permissions",
    ) from error


def read_members(found: Sequence[Found], *, channels: Collection[str], changes: Mapping[str, Any]) -> list[Member]:
    """Read every spec; `changes` as in `load_all`. An invalid one has its mistakes instead."""
    read: list[ReadSpec | SpecError] = []
    for one in found:
        try:
            read.extend(load_all([one.path], channels=channels, changes=changes))
        except SpecError as error:
            read.append(error)
    names = distinct_names([(_name_of(one, spec), one) for one, spec in zip(found, read, strict=True)])
    return [
        Member(
            name, one.path, None if isinstance(spec, SpecError) else spec, spec if isinstance(spec, SpecError) else None
        )
        for name, one, spec in zip(names, found, read, strict=True)
    ]


def _name_of(found: Found, spec: ReadSpec | SpecError) -> str:
    """The name of the spec; of one that cannot be read that of its file or folder."""
    if isinstance(spec, ReadSpec):
        return spec.spec.name
    stem = found.path.parent.name if found.path.name == SPEC else found.path.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:100] or "spec"


def distinct_names(named: Sequence[tuple[str, Found]]) -> list[str]:
    """A name for each: its own; where several have the same, each of them with digits that follow from where it lies.

    So no name depends on the order of the files, and a rerun and another shard give the same.
    """
    own = Counter(name for name, _ in named)
    keys = Counter((name, found.key) for name, found in named)
    return [
        name
        if own[name] == 1
        else f"{name}-{_digits(found.key if keys[name, found.key] == 1 else str(found.path.resolve()))}"
        for name, found in named
    ]


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]
