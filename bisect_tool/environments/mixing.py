"""A part of one environment put into another one, in a tree of its own: which part makes the difference?

Both environments stay as they are: the mixture is made of links and copies (`layering`), and removed after use.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.builds.package_parts import is_generated, is_of_binaries
from bisect_tool.environments.layering import copy_package, forget_compiled
from bisect_tool.environments.left_over import remove_left_over


@dataclass(frozen=True, slots=True)
class Swap:
    """What is taken from the other environment: whole `distributions` (canonical names), or the Python files of `package`."""

    distributions: frozenset[str] = frozenset()
    python_of: str | None = None


def mix(base: Path, donor: Path, own: Path, package: str, swap: Swap) -> None:
    """Fill the site-packages folder `own` with what `base` has, but for what `swap` says, which `donor` gives.

    `package` is the one under test: its folders are real, so that its libraries look for others here. Raises `OSError`.
    """
    out, real = _tops(base, swap.distributions), _tops(base, frozenset({canonicalize_name(package)}))
    for entry in sorted(base.iterdir()):
        if entry.name in out or entry.name == "__pycache__" or (own / entry.name).exists():
            continue
        _put(entry, own / entry.name, is_real=entry.name in real)
    for name in sorted(_tops(donor, swap.distributions)):
        if (donor / name).exists() and not (own / name).exists():
            _put(donor / name, own / name, is_real=name in real)
    if swap.python_of is not None:
        taken = frozenset({canonicalize_name(swap.python_of)})
        names = _take_python(donor, own, _tops(donor, taken))
        folders = tuple(top for top in sorted(_tops(base, taken)) if not top.endswith(".dist-info"))
        remove_left_over(own, base, folders, names)


def _put(entry: Path, target: Path, *, is_real: bool) -> None:
    if is_real and entry.is_dir() and not entry.name.endswith(".dist-info"):
        copy_package(entry, target)
    else:
        target.symlink_to(entry)


def has_binaries(site: Path, package: str) -> bool:
    """Whether the distribution brings shared libraries, so that its Python files are a part of their own."""
    return any(name.endswith(".so") or ".so." in name for name in _files(site, canonicalize_name(package)))


def _take_python(donor: Path, own: Path, tops: Iterable[str]) -> frozenset[str]:
    """Put the Python files of `donor` in the place of those in `own`; gives their paths."""
    taken: set[str] = set()
    for top in tops:
        for file in _python_files(donor / top):
            name = file.relative_to(donor).as_posix()
            if is_generated(name) or ".dist-info/" in name:
                continue
            target = own / name
            target.parent.mkdir(parents=True, exist_ok=True)
            forget_compiled(target)
            target.unlink(missing_ok=True)
            shutil.copy2(file, target)
            taken.add(name)
    return frozenset(taken)


def _python_files(top: Path) -> Iterator[Path]:
    if top.is_file() and top.suffix == ".py":
        yield top
    for file in sorted(top.rglob("*")) if top.is_dir() else ():
        parts = file.relative_to(top.parent).parts
        if file.is_file() and "__pycache__" not in parts and not is_of_binaries(parts):
            yield file


def _tops(site: Path, distributions: frozenset[str]) -> frozenset[str]:
    """The entries of a site-packages folder that belong to these distributions."""
    names = (name for distribution in distributions for name in _files(site, distribution))
    return frozenset(name.split("/", 1)[0] for name in names if not name.startswith(("..", "/", "__pycache__")))


def _files(site: Path, distribution: str) -> list[str]:
    """What RECORD of a distribution lists."""
    for info in site.glob("*.dist-info"):
        if canonicalize_name(info.name.removesuffix(".dist-info").rpartition("-")[0]) != distribution:
            continue
        with suppress(FileNotFoundError), (info / "RECORD").open(newline="", encoding="utf-8") as lines:
            return [row[0] for row in csv.reader(lines) if row]
    return []
