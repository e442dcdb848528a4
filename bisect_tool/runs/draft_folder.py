"""Writing a draft into a folder: never over what is there unless asked to, and never one that is not a spec."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from bisect_tool.errors import OutputNotWritten, SpecError
from bisect_tool.spec.reading import load_all


def write_draft(files: Mapping[str, str], folder: Path, *, force: bool, channels: Collection[str]) -> None:
    """Write `files` (name → text) into `folder`, which is made. With `force` files of these names are replaced, others stay.

    Raises:
        OutputNotWritten: the folder is there, or cannot be written.
        SpecError: the draft is no valid spec; nothing is written then.
    """
    refuse_existing(folder, force=force)
    _checked(files, channels)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            _replaced(folder / name, text)
    except OSError as error:
        raise OutputNotWritten(
            f"the draft cannot be written: {error.strerror}", where=str(folder), advice="name another folder with --out"
        ) from error


def refuse_existing(folder: Path, *, force: bool) -> None:
    """Raises `OutputNotWritten` for a folder that has something in it, unless `force`; for a file in any case."""
    try:
        is_file = folder.exists() and not folder.is_dir()
        is_used = not is_file and folder.is_dir() and any(folder.iterdir())
    except OSError as error:
        raise OutputNotWritten(
            f"the folder cannot be used: {error.strerror}",
            where=str(folder)[:200],
            advice="name another folder with --out",
        ) from error
    if is_file:
        raise OutputNotWritten("this is a file", where=str(folder), advice="name another folder with --out")
    if is_used and not force:
        raise OutputNotWritten(
            "the folder is there already, nothing was written",
            where=str(folder),
            advice="name another with --out, or replace its spec and scripts with --force",
        )


def _checked(files: Mapping[str, str], channels: Collection[str]) -> None:
    """Read the draft as `bisect check` does, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="bisect-init-") as place:
        for name, text in files.items():
            (Path(place) / name).write_text(text, encoding="utf-8")
        try:
            load_all([Path(place) / "spec.yaml"], channels=channels)
        except SpecError as error:
            told = error.what.replace(place, "draft")
            advice = "this is a defect of bisect: please report it with the text; a spec by hand is explained in docs/guide.md"
            raise SpecError(f"the draft is no valid spec, nothing was written\n{told}", advice=advice) from error


def _replaced(path: Path, text: str) -> None:
    """Written beside and moved, so that a link at `path` is replaced and not followed."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)
