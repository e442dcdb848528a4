"""Reading what a trial left, which may be anything: never through a link, never from a device or a pipe, never without end.

A trial can put a link to any file of the machine where a file of its own is looked for, or make a folder on the way to it a
link. So every step of a path is opened by itself, and none may be a link (open(2), O_NOFOLLOW).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bisect_tool.trials.leftovers import remove_folder

LARGEST_KEPT = 16 * 1024 * 1024  # bytes of a file that stays in the folder of a trial
_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would be waited for


@contextmanager
def open_left(folder: Path, name: str) -> Iterator[BinaryIO]:
    """The file `name` (relative) in `folder`, of which only what is inside is not to be trusted.

    Raises `OSError` when there is none, or it is no regular file.
    """
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/"):
        raise FileNotFoundError(2, "not a name inside the folder", name)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            inner = os.open(part, _STEP | (0 if part is parts[-1] else os.O_DIRECTORY), dir_fd=at)
            os.close(at)
            at = inner
        if not stat.S_ISREG(os.fstat(at).st_mode):
            raise FileNotFoundError(2, "no regular file", name)
        with os.fdopen(at, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(at)


def read_left(folder: Path, name: str, most: int) -> bytes:
    """At most `most` bytes of it. Raises `OSError` as `open_left` does."""
    with open_left(folder, name) as file:
        return file.read(most)


def left_files(folder: Path, ending: str = "", most: int = 10_000) -> list[str]:
    """The names (relative) of regular files below `folder`, sorted; at most so many are looked at. No link is followed."""
    found = []
    for seen, path in enumerate(_walk(folder)):
        if seen >= most:
            break
        if path.name.endswith(ending):
            found.append(path.relative_to(folder).as_posix())
    return sorted(found)


def _walk(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):  # links to folders are listed among these, and not entered
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path


def keep_only_files(folder: Path) -> None:
    """Leave nothing in the folder of a trial that has ended but its regular files, and of these no huge ones.

    The folder is made again when the trial has removed it.
    """
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(folder):
        with suppress(OSError):
            if entry.is_file(follow_symlinks=False):
                if entry.stat(follow_symlinks=False).st_size > LARGEST_KEPT:
                    Path(entry.path).unlink()
            elif entry.is_dir(follow_symlinks=False):
                remove_folder(Path(entry.path))
            else:
                Path(entry.path).unlink()


def write_anew(path: Path, content: str, errors: str = "backslashreplace") -> None:
    """Write a file into a folder that a trial could write: whatever has its name goes, and nothing is written through it.

    `errors` says what becomes of characters that UTF-8 does not have.

    Raises `OSError`.
    """
    if path.is_dir() and not path.is_symlink():
        remove_folder(path)
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", errors=errors) as file:
        file.write(content)


def write_left(folder: Path, name: str, content: str) -> None:
    """Write the file `name` (relative) in `folder`, whose owner may still be at work there: no step of the way is a link.

    Raises `OSError`, also when there is one.
    """
    *parents, last = PurePosixPath(name).parts
    if ".." in (*parents, last) or name.startswith("/"):
        raise FileNotFoundError(2, "not a name inside the folder", name)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parents:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
            inner = os.open(part, _STEP | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = inner
        with suppress(FileNotFoundError):
            os.unlink(last, dir_fd=at)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(last, flags, 0o644, dir_fd=at), "w", encoding="utf-8", errors="replace") as file:
            file.write(content)
    finally:
        os.close(at)
