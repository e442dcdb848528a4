"""An archive that somebody uploaded, as a submission. Pure over bytes: nothing is written anywhere.

Taken are zip (stored or deflated) and tar (plain, gzip, bzip2, xz) with regular files and folders, under plain paths. All
else is refused as a whole, with a reason: an archive that tries something is not half taken. What is unpacked is bounded
while it is read, whatever the archive claims of itself.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from bisect_tool.errors import SpecError
from bisect_tool.service.question import MOST_FILE_BYTES, MOST_FILES, MOST_SPEC_BYTES, Submission

SPEC = "spec.yaml"
MOST_BYTES = MOST_FILE_BYTES + MOST_SPEC_BYTES  # of everything unpacked
MOST_ARCHIVE = MOST_BYTES + 1_000_000
MOST_ENTRIES = 4 * MOST_FILES  # folders are entries too
MOST_NAME = 300  # characters
_MOST_DIRECTORY = 2_000_000  # bytes of the list at the end of a zip
_LZMA_MEMORY = 256 * 1024 * 1024
_END = struct.Struct("<4s4H2LH")  # of a zip: APPNOTE.TXT 4.3.16
_ENCRYPTED, _UTF8 = 0x1, 0x800  # of the flags of an entry: APPNOTE.TXT 4.4.4
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\:]")
_ADVICE = "pack the folder with spec.yaml and the files of the repro again, as a plain zip or tar"

Entry = tuple[str, bytes | None]  # its name, and its content; None for a folder


class _Refused(Exception):
    """Why an archive is not taken."""


def unpack(content: bytes) -> Submission:
    """What an archive holds; the folder that `spec.yaml` lies in is the top, at most one below that of the archive.

    Raises `SpecError` with the reason when it is not taken.
    """
    try:
        return _submission(_checked(_entries(content)))
    except _Refused as reason:
        raise SpecError(f"the archive is not taken: {reason}", advice=_ADVICE) from reason
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, ValueError, OSError) as error:
        raise SpecError(f"the archive cannot be read: {error}", advice=_ADVICE) from error
    except (RecursionError, NotImplementedError, struct.error, OverflowError) as error:
        raise SpecError("the archive cannot be read: it is not as such files are made", advice=_ADVICE) from error


def _entries(content: bytes) -> Iterator[Entry]:
    if len(content) > MOST_ARCHIVE:
        raise _Refused(f"it has {len(content) / 1e6:.1f} MB, at most {MOST_ARCHIVE // 1_000_000} are")
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _of_zip(content)
    return _of_tar(_inflated(content))


def _of_zip(content: bytes) -> Iterator[Entry]:
    _check_end(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        budget = MOST_BYTES
        for info in archive.infolist():
            name = _name_in_zip(info)
            mode = info.external_attr >> 16
            if info.flag_bits & _ENCRYPTED:
                raise _Refused(f"{_shown(name)} is encrypted")
            if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise _Refused(f"{_shown(name)} is packed in a way that is not taken")
            if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise _Refused(f"{_shown(name)} is neither a file nor a folder")
            if name.endswith("/"):
                yield name.rstrip("/"), None
                continue
            with archive.open(info) as file:
                found = _bounded(file.read(budget + 1), budget)
            budget -= len(found)
            yield name, found


def _check_end(content: bytes) -> None:
    """That the list of a zip is where it has to be and not too long, before it is read into memory."""
    if len(content) < _END.size:
        raise _Refused("it is cut off")
    mark, disk, first, here, count, size, begin, comment = _END.unpack(content[-_END.size :])
    if mark != b"PK\x05\x06" or comment or disk or first or here != count:
        raise _Refused("it does not end as a plain zip does (a comment, several parts, something behind it?)")
    if count > MOST_ENTRIES:
        raise _Refused(f"it has {count} entries, at most {MOST_ENTRIES} are taken")
    if size > _MOST_DIRECTORY or begin + size != len(content) - _END.size:
        raise _Refused("its list of entries is not where it has to be")


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """The name as it is written: `info.filename` ends at a NUL."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8 and not name.isascii():
        raise _Refused(f"the name {_shown(name)} is not said to be UTF-8")
    return name


def _inflated(content: bytes) -> bytes:
    """The tar inside, at most as large as a tar of the most that is taken. Whatever is no known packing is taken for a tar."""
    most = MOST_BYTES + 1536 * (MOST_ENTRIES + 10)
    packed: zlib._Decompress | bz2.BZ2Decompressor | lzma.LZMADecompressor
    if content.startswith(b"\x1f\x8b"):
        packed = zlib.decompressobj(wbits=31)
    elif content.startswith(b"BZh"):
        packed = bz2.BZ2Decompressor()
    elif content.startswith(b"\xfd7zXZ\x00"):
        packed = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_LZMA_MEMORY)
    else:
        return content
    found = packed.decompress(content, most + 1)
    if len(found) > most:
        raise _Refused(f"it unpacks to more than {most // 1_000_000} MB")
    if not packed.eof or packed.unused_data:
        raise _Refused("it is cut off, or something is behind it")
    return found


def _of_tar(content: bytes) -> Iterator[Entry]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:", errors="strict", encoding="utf-8") as archive:
        budget = MOST_BYTES
        for number, member in enumerate(archive):
            if number >= MOST_ENTRIES:
                raise _Refused(f"it has more than {MOST_ENTRIES} entries")
            if member.isdir():
                yield member.name, None
                continue
            if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.sparse is not None:
                raise _Refused(f"{_shown(member.name)} is neither a plain file nor a folder")
            file = archive.extractfile(member)
            found = _bounded(b"" if file is None else file.read(budget + 1), budget)
            if len(found) != member.size:
                raise _Refused(f"{_shown(member.name)} is cut off")
            budget -= len(found)
            yield member.name, found


def _bounded(found: bytes, most: int) -> bytes:
    if len(found) > most:
        raise _Refused(f"it unpacks to more than {MOST_BYTES // 1_000_000} MB")
    return found


def _checked(entries: Iterator[Entry]) -> dict[str, bytes]:
    """The files by their paths; no path is odd, and no two are one on any file system."""
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    seen: dict[str, str] = {}
    for given, content in entries:
        name = given.removeprefix("./")
        if name in {"", "."} and content is None:
            continue
        if why := _odd(name):
            raise _Refused(f"{_shown(given)}: {why}")
        folders |= {_alike(str(one)) for one in PurePosixPath(name).parents}
        if content is None:
            folders.add(_alike(name))
            continue
        if other := seen.get(_alike(name)):
            raise _Refused(
                f"{_shown(name)} is there more than once" if other == name else f"{_shown(name)} and {_shown(other)}"
            )
        seen[_alike(name)] = name
        files[name] = content
    if both := folders & seen.keys():
        raise _Refused(f"{_shown(seen[min(both)])} is a file and a folder")
    return files


def _odd(name: str) -> str | None:
    """Why a path is not taken."""
    if len(name) > MOST_NAME:
        return f"a path of at most {MOST_NAME} characters is taken"
    if _ODD.search(name) or not name.isprintable():
        return "a path of printable characters without `\\` and `:` is taken"
    if name.startswith("/") or PurePosixPath(name).as_posix() != name or ".." in PurePosixPath(name).parts:
        return "a path inside the archive is taken, without `..` and `//`"
    if any(part != part.strip(" ") or part.endswith(".") for part in PurePosixPath(name).parts):
        return "names that begin or end with a space or end with a dot are not the same everywhere"
    return None


def _alike(name: str) -> str:
    """The same for names that some file systems take for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def _submission(files: dict[str, bytes]) -> Submission:
    specs = [name for name in files if name == SPEC or (name.endswith(f"/{SPEC}") and name.count("/") == 1)]
    if len(specs) != 1:
        raise _Refused(f"it has {'no' if not specs else 'more than one'} {SPEC} at its top")
    top = specs[0].removesuffix(SPEC)
    if outside := [name for name in files if not name.startswith(top)]:
        raise _Refused(f"{_shown(outside[0])} does not lie beside {SPEC}")
    if len(files) - 1 > MOST_FILES:
        raise _Refused(f"it has {len(files) - 1} files, at most {MOST_FILES} are taken")
    try:
        text = files.pop(specs[0]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused(f"{SPEC} is not UTF-8") from error
    return Submission(text, tuple(sorted((name.removeprefix(top), content) for name, content in files.items())))


def _shown(name: str) -> str:
    return repr(name[:80])
