"""Trials that ended while nobody could store them: kept in the cache, and stored when the database answers again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bisect_tool.store.address import StoreAddress
from bisect_tool.store.records import StoredTrial, Subject


@dataclass(frozen=True, slots=True)
class Outbox:
    """Files in the folder `unsent` of the cache at `root`, one for each trial."""

    root: Path

    def keep(self, trial: StoredTrial, address: StoreAddress) -> None:
        """Keep a trial for the database at `address`. Raises `OSError`."""
        self._folder.mkdir(exist_ok=True)
        name = f"{_name(address)}-{Path(trial.folder).name}.json"
        part = self._folder / f".{name}"
        with part.open("w", encoding="utf-8") as file:
            json.dump(asdict(trial), file)
            file.flush()
            os.fsync(file.fileno())
        part.rename(self._folder / name)

    def kept(self, address: StoreAddress) -> Iterator[tuple[Path, StoredTrial]]:
        """The trials that are kept for the database at `address`, with their files, oldest first."""
        for path in sorted(self._folder.glob(f"{_name(address)}-*.json")):
            try:
                text = path.read_text(encoding="utf-8")
            except FileNotFoundError:  # another run of this cache has sent it in the meantime
                continue
            yield path, _read(json.loads(text))

    def is_own(self, folder: str) -> bool:
        """Whether a trial was made in this cache."""
        return (self.root / folder).is_dir()

    @property
    def _folder(self) -> Path:
        return self.root / "unsent"


def _name(address: StoreAddress) -> str:
    return hashlib.sha256(str(address).encode()).hexdigest()[:8]


def _read(values: dict[str, Any]) -> StoredTrial:
    return StoredTrial(**{**values, "subject": Subject(**values["subject"])})
