"""The Python part of a nightly, read from its wheel by parts: 11 MB of 500 to 900 MB, and less where much of it is here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from bisect_tool.builds.nightly.inside import RemoteFile, Unreadable, assigned
from bisect_tool.builds.nightly.site import Site
from bisect_tool.builds.nightly.zip_directory import Member, members_of, read_many
from bisect_tool.builds.nightly.zip_parts import BadArchive
from bisect_tool.builds.package_parts import is_python_part
from bisect_tool.builds.python_files import NotReadable


@dataclass(frozen=True)
class PythonPart:
    """The files of the wheel at `address` that lie in `folders` and are no binaries; satisfies `PythonFiles`.

    `size` is that of the wheel, `packed` what its Python part takes of it, in bytes.
    """

    site: Site
    address: str
    version: str
    folders: tuple[str, ...]
    size: int
    members: Mapping[str, Member] = field(repr=False)
    version_file: Member | None = None

    @property
    def packed(self) -> int:
        """Bytes of the Python part inside the wheel."""
        return sum(member.packed for member in self.members.values())

    @property
    def checksums(self) -> Mapping[str, int]:
        """See `PythonFiles`."""
        return {name: member.crc for name, member in self.members.items()}

    @cached_property
    def revision(self) -> str | None:
        """See `PythonFiles`; one request. Raises `IndexUnreachable`, `NotReadable`."""
        if self.version_file is None:
            return None
        with _explained(), self.site.open() as session:
            file = RemoteFile(self.site, session, self.address)
            return assigned(read_many(file, [self.version_file])[self.version_file.name]).get("git_version")

    def read(self, names: Iterable[str]) -> Mapping[str, bytes]:
        """See `PythonFiles`."""
        with _explained(), self.site.open() as session:
            file = RemoteFile(self.site, session, self.address)
            return read_many(file, [self.members[name] for name in names])


def read_python_part(site: Site, address: str, version: str, folders: tuple[str, ...]) -> PythonPart:
    """What the Python part of a wheel holds: two requests, 1.3 MB for torch.

    Raises `IndexUnreachable`, `NotReadable`.
    """
    with _explained(), site.open() as session:
        file = RemoteFile(site, session, address)
        members = members_of(file)
        size = file.size
    return PythonPart(
        site=site,
        address=address,
        version=version,
        folders=folders,
        size=size,
        members={member.name: member for member in members if is_python_part(member.name, folders)},
        version_file=next((member for member in members if member.name == f"{folders[0]}/version.py"), None),
    )


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (BadArchive, Unreadable) as error:
        raise NotReadable(str(error)) from error
