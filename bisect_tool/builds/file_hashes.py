"""The hashes of large files, remembered while path, size and time of change stay the same."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bisect_tool.builds.cache_faults import cannot_keep

_FILE = "wheel-hashes.json"


@dataclass(frozen=True, slots=True)
class FileHashes:
    """SHA-256 of files; `folder` is where they are remembered, None remembers nothing."""

    folder: Path | None

    def of(self, paths: list[Path]) -> list[str]:
        """The hexadecimal SHA-256 of each file; a file that changed is read again.

        Raises:
            OSError: a file cannot be read.
            CacheNotWritable, DiskFull: the folder cannot be written.
        """
        known = self._load()
        keys = [_key(path) for path in paths]
        new = {key: _digest(path) for key, path in zip(keys, paths, strict=True) if key not in known}
        if new:
            self._save(new)
        return [(known | new)[key] for key in keys]

    def _load(self) -> dict[str, str]:
        if self.folder is None:
            return {}
        try:
            kept = json.loads((self.folder / _FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # only a memory: what cannot be read is worked out again
        return {str(key): str(value) for key, value in kept.items()} if isinstance(kept, dict) else {}

    def _save(self, new: dict[str, str]) -> None:
        """Adds to what another process may have written meanwhile; at worst a hash is worked out twice."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as file:
                _write_over(self.folder / _FILE, json.dumps(self._load() | new, indent=0), file)
        except OSError as error:
            raise cannot_keep("hashes of wheels", self.folder, error) from error


def _write_over(path: Path, text: str, file: IO[str]) -> None:
    """Whole or not at all: the text goes to `file`, a new one beside `path`, which then takes its place."""
    try:
        file.write(text)
        file.close()
        Path(file.name).replace(path)
    except OSError:
        Path(file.name).unlink(missing_ok=True)
        raise


def _key(path: Path) -> str:
    found = path.stat()
    return f"{path.resolve()}|{found.st_size}|{found.st_mtime_ns}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
