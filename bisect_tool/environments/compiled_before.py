"""Puts compiled Python files into a new environment before anything imports them; run as a program, never imported.

Most files of a build are those of the build before, and compiling them is most of a first import. What comes into the
environment is what Python would write there itself: the code of exactly these bytes of source, with the time and the size of
this file. A store keeps the code by the hash of the source, compiled here and by nobody else; each entry begins with its own
hash, so that a damaged one is compiled again. Other environments say only which files are worth it, by what is compiled there.

No code of the environment runs. A file whose compiling warns or fails is left out, so that its import says what it always says.

Arguments: the folder of the packages, the store, and the folders of packages in other environments. Python 3.8 or newer.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import marshal
import os
import struct
import sys
import warnings
from contextlib import suppress
from typing import Iterable, Iterator

ENDING = ".%s.pyc" % sys.implementation.cache_tag
FULL = (errno.ENOSPC, errno.EDQUOT)
MOST = 20000  # entries of the store, some 350 MB


def compiled_in(site: str) -> Iterator[str]:
    """The names of the files that are compiled in an environment, relative to its packages."""
    for folder, _, files in os.walk(site):
        above, own = os.path.split(folder)
        if own == "__pycache__":
            yield from (
                os.path.relpath(os.path.join(above, one[: -len(ENDING)] + ".py"), site)
                for one in files
                if one.endswith(ENDING)
            )


def lies_behind_link(site: str, name: str) -> bool:
    """Whether a folder on the way to the compiled file is a link: nothing is written through one."""
    path = os.path.join(site, os.path.dirname(name), "__pycache__")
    while path != site:
        if os.path.islink(path):
            return True
        path = os.path.dirname(path)
    return False


def fill(site: str, store: str, name: str) -> None:
    """Write the compiled form of one file, where there is none."""
    path = os.path.join(site, name)
    target = importlib.util.cache_from_source(path)
    if os.path.lexists(target) or lies_behind_link(site, name):
        return
    facts = os.stat(path)
    with open(path, "rb") as file:
        source = file.read()
    code = code_of(source, path, store)
    if code:
        made = struct.pack("<III", 0, int(facts.st_mtime) & 0xFFFFFFFF, len(source) & 0xFFFFFFFF)
        put(target, importlib.util.MAGIC_NUMBER + made + code, (facts.st_mode | 0o200) & 0o666)


def code_of(source: bytes, path: str, store: str) -> bytes:
    """The code of a source, from the store where it is; empty when it is to be left out."""
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER + source).hexdigest()
    entry = os.path.join(store, digest[:2], digest[2:])
    try:
        with open(entry, "rb") as file:
            kept = file.read()
        if hashlib.sha256(kept[32:]).digest() == kept[:32]:
            return kept[32:]
    except OSError:
        pass
    code = compiled(source, path)
    if code is None:
        return b""
    put(entry, hashlib.sha256(code).digest() + code, 0o644)
    return code


def compiled(source: bytes, path: str) -> bytes | None:
    """The code as Python's own loader makes it; empty when compiling warns or fails, None when it may do so here alone."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            code = compile(source, path, "exec", dont_inherit=True)
            return b"" if said else marshal.dumps(code)
        except (RecursionError, MemoryError):
            return None
        except (SyntaxError, ValueError, OverflowError):
            return b""


def put(path: str, content: bytes, mode: int) -> None:
    """Write a file whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = "%s.%s" % (path, os.urandom(6).hex())
    try:
        with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def make_room(store: str) -> None:
    """Remove the older half of a store that has grown too large."""
    entries = [os.path.join(folder, one) for folder, _, files in os.walk(store) for one in files]
    if len(entries) > MOST:
        entries.sort(key=os.path.getmtime)
        for one in entries[: len(entries) // 2]:
            os.unlink(one)


def main(site: str, store: str, others: Iterable[str]) -> None:
    """Fill the environment."""
    for name in sorted({name for other in others for name in compiled_in(other)}):
        try:
            fill(site, store, name)
        except OSError as error:
            if error.errno in FULL:
                break
            # No file of this build, or something else has its place: its import says what there is to say.
    make_room(store)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
