"""The mark of an environment: what says that a folder is ours, how far it has come, and what was proven of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bisect_tool.environments.environment_key import EnvironmentKey
from bisect_tool.environments.health import Health
from bisect_tool.errors import MachineFault

MARK = "bisect-environment.json"
USED = "used"
FORMAT = 1
ALIKE = 3  # environments whose compiled files are looked at


def remove(folder: Path) -> None:
    """Remove an environment; a link and a folder without our mark are left alone, because they are not ours."""
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or (not (folder / MARK).exists() and _has_more_than_a_part(folder)):
        raise MachineFault(
            "a folder without the mark of bisect lies where an environment belongs",
            where=str(folder),
            advice="move it away; bisect deletes only what it made itself",
        )
    # The mark goes last, so that a removal that was interrupted can be taken up again.
    for child in folder.iterdir():
        if child.name != MARK:
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    shutil.rmtree(folder)


def _has_more_than_a_part(folder: Path) -> bool:
    """An interrupted start leaves nothing but the first piece of the mark."""
    return any(child.name != f"{MARK}.part" for child in folder.iterdir())


def discard(folder: Path) -> None:
    """Remove what was half made; what cannot be removed now is not taken for ready, and goes before the next attempt."""
    with suppress(OSError, MachineFault):
        remove(folder)


def described(key: EnvironmentKey) -> dict[str, Any]:
    """The key as the mark holds it."""
    return {
        "package": key.build.package,
        "version": key.build.version,
        "identity": key.build.identity,
        "python": key.interpreter.identity,
        "requires": list(key.requires),
        "base": "system" if key.base_system else "isolated",
        "hold": list(key.hold),
        "as_is": list(key.as_is),
    }


def read_mark(folder: Path) -> dict[str, Any]:
    """What the mark says; empty where there is none that this version can read."""
    try:
        mark = json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return {}  # no environment, or one whose making was interrupted in the middle of the mark: made again
    return mark if isinstance(mark, dict) and mark.get("format") == FORMAT else {}


def write_mark(folder: Path, mark: Mapping[str, Any]) -> None:
    """Write the mark, whole or not at all. Raises `OSError`."""
    text = json.dumps({"format": FORMAT, **mark, "changed": datetime.now(UTC).isoformat()}, indent=1)
    part = folder / f"{MARK}.part"
    part.write_text(text + "\n")
    part.replace(folder / MARK)


def touch(folder: Path) -> None:
    """Note that the environment was used now."""
    # Without it the environment only looks as if nobody had used it.
    with suppress(OSError):
        (folder / USED).touch()


def latest_alike(folder: Path, key: EnvironmentKey) -> list[Path]:
    """The ready environments of other builds of the package with the same interpreter that were used last; a few of them."""
    begin = f"{key.build.package}-"
    found = [one for one in folder.parent.glob(f"{begin}*{key.interpreter.identity}-*") if one != folder]
    used = [(stamp, one) for one in found if (stamp := _used(one)) is not None]
    return [one for _, one in sorted(used, reverse=True)[:ALIKE] if read_mark(one).get("state") == "ready"]


def _used(folder: Path) -> float | None:
    with suppress(OSError):
        return (folder / USED).stat().st_mtime
    return None


def health_of(folder: Path, device: str) -> Health | None:
    """What was proven of a ready environment on `device`; None where nothing was."""
    mark = read_mark(folder)
    if mark.get("state") != "ready":
        return None
    found = mark["health"].get(device)
    return None if found is None else Health(**found)
