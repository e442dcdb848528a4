"""The specs of the repository as they run on this machine: over the packages of its interpreter, from the wheelhouse."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

from tests.gpu.session.place import AS_THEY_ARE_KEYS, ROOT, Place

OLDEST = Version("2.12.1")  # of the wheels that are brought along


def adapted(
    place: Place, name: str, use: str, more: Mapping[str, object] | None = None, *, of: Path | None = None
) -> Path | None:
    """A copy of the spec called `name`, for one `use`, with the keys of this machine; None when its device is not here.

    `of` is the folder of a spec that is none of the repository.
    """
    source = of or ROOT / "repro_specs" / name
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
    """The specs of torch for a GPU whose range reaches the releases that are brought along."""
    return [name for name, keys in _for_cuda() if Version(keys["to"]) > OLDEST]


def names_of_older() -> list[str]:
    """The specs of torch for nothing but a GPU whose range ends before those: they need the CUDA libraries of their time."""
    return [name for name, keys in _for_cuda() if Version(keys["to"]) <= OLDEST and keys.get("device") == "cuda"]


def _for_cuda() -> list[tuple[str, Mapping[str, Any]]]:
    found = sorted((ROOT / "repro_specs").glob("*/spec.yaml"))
    read = [(path.parent.name, yaml.load(path.read_text(), Loader=yaml.BaseLoader)) for path in found]
    return [
        (name, keys)
        for name, keys in read
        if keys.get("package", "torch") == "torch" and "cuda" in keys.get("device", ["cuda"])
    ]
