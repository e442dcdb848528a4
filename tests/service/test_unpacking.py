"""Archives that try something, and archives that do not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.errors import SpecError
from bisect_tool.service.question import Submission
from bisect_tool.service.unpacking import MOST_BYTES, MOST_ENTRIES, unpack

SPEC = ("spec.yaml", b"name: x\n")
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip


def zipped(*files: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names that are there twice
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


def tarred(*files: tuple[str | tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files:
            one = name if isinstance(name, tarfile.TarInfo) else member(name, size=len(content))
            archive.addfile(one, io.BytesIO(content))
    return out.getvalue()


def refusal(content: bytes) -> str:
    with pytest.raises(SpecError) as error:
        unpack(content)
    assert error.value.advice
    return error.value.what


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_tar(packing: str) -> None:
    content = PACKINGS[packing](tarred(SPEC, ("data/a.json", b"{}"), (member("data", tarfile.DIRTYPE), b"")))
    assert unpack(content) == Submission("name: x\n", (("data/a.json", b"{}"),))


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip(kind: int) -> None:
    content = zipped(("./", b""), SPEC, ("data/", b""), ("data/ä.json", b"{}"), kind=kind)
    assert unpack(content) == Submission("name: x\n", (("data/ä.json", b"{}"),))


def test_one_folder_around_it_is_left_out() -> None:
    files = (("mine/spec.yaml", b"name: x\n"), ("mine/repro.py", b"pass\n"))
    assert unpack(zipped(*files)) == unpack(tarred(*files)) == Submission("name: x\n", (("repro.py", b"pass\n"),))


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../up", "a/../../up", "a//b", "a/./b", "C:evil", "a\\b", "a\nb", "a\x1b[2Jb", "a\u202eb", "..", " a",
     "a.", "a /b", "x" * 301],
)  # fmt: skip
def test_odd_paths(name: str) -> None:
    for content in (zipped(SPEC, (name, b"x")), tarred(SPEC, (name, b"x"))):
        assert refusal(content).startswith("the archive is not taken: ")


def test_a_name_that_ends_earlier_for_others() -> None:
    content = zipped(SPEC, ("aaaa.py_tail", b"x")).replace(b"aaaa.py_tail", b"aaaa.py\0tail")
    assert "printable" in refusal(content)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.py", "a.py"), ("a.py", "A.PY"), ("Spec.yaml", "b"), ("\u00e9.py", "e\u0301.py"), ("stra\u00dfe", "STRASSE"),
     ("a", "a/b"), ("A", "a/b"), ("\ufb01le", "file")],
)  # fmt: skip
def test_two_names_that_are_one_somewhere(one: str, other: str) -> None:
    for content in (zipped(SPEC, (one, b"1"), (other, b"2")), tarred(SPEC, (one, b"1"), (other, b"2"))):
        assert refusal(content).startswith("the archive is not taken: ")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE]
)
def test_what_is_neither_a_file_nor_a_folder_in_a_tar(kind: bytes) -> None:
    assert "neither a plain file nor a folder" in refusal(tarred(SPEC, (member("link", kind, "/etc/passwd"), b"")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_what_is_neither_a_file_nor_a_folder_in_a_zip(kind: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(*SPEC)
        info = zipfile.ZipInfo("link")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert "neither a file nor a folder" in refusal(out.getvalue())


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_a_bomb_in_a_tar(packing: str) -> None:
    big = tarred(SPEC, ("big", bytes(3 * MOST_BYTES)))
    assert "unpacks to more than" in refusal(PACKINGS[packing](big))


def test_a_bomb_in_a_zip() -> None:
    assert "unpacks to more than" in refusal(zipped(SPEC, ("big", bytes(MOST_BYTES + 1))))
    part = bytes(MOST_BYTES // 2)
    assert "unpacks to more than" in refusal(zipped(SPEC, ("a", part), ("b", part), ("c", part)))


def test_a_zip_that_lies_about_its_sizes() -> None:
    content = bytearray(zipped(SPEC, ("big", bytes(MOST_BYTES + 1))))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<L", 10)
    assert refusal(bytes(content))


def test_too_many_entries() -> None:
    many = [(f"{number}", b"") for number in range(MOST_ENTRIES + 1)]
    assert "entries" in refusal(zipped(SPEC, *many))
    assert "entries" in refusal(tarred(SPEC, *many))


def test_an_encrypted_zip() -> None:
    content = bytearray(zipped(SPEC))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    assert "encrypted" in refusal(bytes(content))


def test_names_that_are_not_utf_8() -> None:
    assert "utf-8" in refusal(zipped(SPEC, ("caf\u00e9", b"")).replace("caf\u00e9".encode(), b"caf\xc3\x28"))
    latin = io.BytesIO()
    with tarfile.open(fileobj=latin, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        archive.addfile(member("caf\u00e9"))
    assert refusal(latin.getvalue())


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x05\x06", b"MZ" + bytes(600), zipped(SPEC)[:-5], zipped(SPEC) + b"more", gzip.compress(tarred(SPEC))[:-4],
     gzip.compress(tarred(SPEC)) + b"more", zipped(), zipped(("repro.py", b"")), zipped(SPEC, ("a/spec.yaml", b"")),
     zipped(("spec.yaml", b"\xff")), zipped(("a/spec.yaml", b""), ("b", b"")), tarred(SPEC)[:700]],
)  # fmt: skip
def test_what_is_no_archive_of_a_spec(content: bytes) -> None:
    assert refusal(content)


def test_long_names_without_end_in_a_tar() -> None:
    """Headers that each announce the name of the next: tarfile reads them one inside the other."""
    one = member("././@LongLink", tarfile.GNUTYPE_LONGNAME, size=1).tobuf() + b"a".ljust(512, b"\0")
    assert refusal(one * 5000)


NAMES = st.text(st.sampled_from("ab/.\\ A\0\u00e4"), min_size=1, max_size=8)


@given(files=st.lists(st.tuples(NAMES, st.binary(max_size=20)), max_size=5), is_zip=st.booleans())
def test_whatever_is_taken_lies_inside_and_is_as_it_was_packed(files: list[tuple[str, bytes]], is_zip: bool) -> None:  # noqa: FBT001
    try:
        content = zipped(SPEC, *files) if is_zip else tarred(SPEC, *files)
    except ValueError:
        return  # the packer does not write such names
    try:
        found = unpack(content)
    except SpecError:
        return
    packed = [(as_archived(given), content) for given, content in files]
    for name, held in found.files:
        assert "\0" not in name
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert (name, held) in packed


def as_archived(given: str) -> str:
    """The name that `given` has in an archive: it ends at a NUL, and a slash at the end says nothing about a file's
    name (tarfile drops it from a name with letters beyond ASCII)."""
    return given.split("\0", maxsplit=1)[0].rstrip("/").removeprefix("./")


@given(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["zip", "tar", "gzip"]))
def test_a_damaged_archive_is_refused_or_holds_what_was_packed(at: int, byte: int, kind: str) -> None:
    files = (SPEC, ("repro.py", b"print('x')\n" * 20))
    content = bytearray(zipped(*files) if kind == "zip" else PACKINGS[kind](tarred(*files)))
    content[at % len(content)] = byte
    with suppress(SpecError):
        unpack(bytes(content))
