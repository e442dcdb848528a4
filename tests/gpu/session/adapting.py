"""The specs of the repository as they run on this machine: over the packages of its interpreter, from the wheelhouse."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.gpu.session.place import AS_THEY_ARE_KEYS, ROOT, Place


def adapted(place: Place, name: str, use: str, more: Mapping[str, object] | None = None) -> Path | None:
    """A copy of the spec called `name`, for one `use`, with the keys of this machine; None when its device is not here."""
    source = ROOT / "repro_specs" / name
    # Everything as text, as the tool itself reads it: `no` is a word, and `2.10` no number.
    keys: dict[str, Any] = yaml.load((source / "spec.yaml").read_text(), Loader=yaml.BaseLoader)
    devices = keys.get("device", ["cuda", "cpu"])
    if place.device not in ([devices] if isinstance(devices, str) else devices):
        return None
    folder = place.specs / use / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    beside = AS_THEY_ARE_KEYS if keys.get("package", "torch") == "torch" else {"base": "system"}
    own: dict[str, object] = {
        "python": place.python,
        "channel": "wheelhouse",
        "device": place.device,
        **beside,
    }
    (folder / "spec.yaml").write_text(yaml.safe_dump({**keys, **own, **(more or {})}, sort_keys=False))
    return folder / "spec.yaml"


def names_of_specs() -> list[str]:
    """The specs whose package is torch."""
    found = sorted((ROOT / "repro_specs").glob("*/spec.yaml"))
    return [path.parent.name for path in found if yaml.safe_load(path.read_text()).get("package", "torch") == "torch"]
