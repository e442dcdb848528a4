"""Machines that `bisect doctor` looks at: everything that differs from one machine to the next is made up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bisect_tool.builds.channel import names
from bisect_tool.runs.doctor.place import Fetched, Place, Unanswered
from bisect_tool.runs.gpus_seen import see_gpus
from bisect_tool.settings import read_settings
from bisect_tool.spec.reading import spec_of_flags
from tests.rig.nvml_library import FakeLibrary

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DATE = {"date": "Mon, 30 Nov 2026 12:00:30 GMT"}
LIMIT = json.dumps({"resources": {"core": {"limit": 60, "remaining": 54, "reset": int(NOW.timestamp()) + 600}}})
GB = 10**9


def asking(**flags: Any) -> Any:
    return spec_of_flags(flags, channels=names())


def online(address: str, _headers: Mapping[str, str] | None) -> Fetched:
    return Fetched(200, 0.12, DATE, LIMIT if address.endswith("rate_limit") else "")


def offline(_address: str, _headers: Mapping[str, str] | None) -> Fetched:
    raise Unanswered("no connection")


def programs(words: Sequence[str]) -> str | None:
    """A uv, a compiler of each kind, and Pythons 3.11 and 3.12."""
    if words[-1] == "--version":
        return "uv 0.13.9\n" if words[0].endswith("uv") else f"{Path(words[0]).name} 12.2.0\n"
    if "list" in words:
        found = [
            ("3.12.3", "/usr/bin/python3.12"),
            ("3.11.7", "/usr/bin/python3.11"),
            ("3.13.1", None),
            ("3.16.0a2", None),
        ]
        return json.dumps([{"version": one, "path": path, "implementation": "cpython"} for one, path in found])
    return None


def place(folder: Path, library: FakeLibrary, asked: Any = None, **changes: Any) -> Place:
    """A machine with the cards of `library` and all else in order."""
    settings = read_settings({"cache": str(folder), "index": "https://index.example/simple"}, {}, folder)
    made = Place(
        settings,
        {"PATH": "/usr/bin"},
        asked or asking(),
        gpus=lambda: see_gpus(library),
        fetch=online,
        call=programs,
        which=lambda name: f"/usr/bin/{name}",
        room=lambda _path: (1000 * GB, 400 * GB),
        now=lambda: NOW,
        home=folder,
    )
    return replace(made, **changes)
