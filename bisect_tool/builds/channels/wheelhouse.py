"""The channel `wheelhouse`: a folder of wheels, for machines without a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.channel import Access
from bisect_tool.builds.file_hashes import FileHashes
from bisect_tool.builds.fitting import read_wheel_name
from bisect_tool.builds.nothing_fits import nothing_fits
from bisect_tool.builds.streams import FoundFile, listing_of
from bisect_tool.errors import PackageNotFound, SettingError


def open_channel(access: Access) -> WheelhouseChannel:
    """The folder that `access` names.

    Raises:
        SettingError: no folder was named.
    """
    if access.wheelhouse is None:
        raise SettingError(
            "the channel `wheelhouse` needs a folder of wheels", advice="Name the folder with --wheelhouse DIR."
        )
    return WheelhouseChannel(access.wheelhouse.absolute(), FileHashes(access.pages))


@dataclass(frozen=True, slots=True)
class WheelhouseChannel:
    """Lists the wheels that lie directly in `folder`; links to wheels count."""

    folder: Path
    hashes: FileHashes

    def source_address(self) -> str:
        """The folder."""
        return str(self.folder)

    def listing(self, wanted: Wanted) -> Listing:
        """Every build that fits, oldest first, identified by the hash of its file.

        Raises:
            PackageNotFound: no such folder, no wheels of the package in it, or none that fits.
            CacheNotWritable: the hashes cannot be remembered.
        """
        try:
            files = list(self._wheels(wanted.package))
            listing = listing_of(files, wanted, self.source_address())
            if files and not listing.builds:
                raise nothing_fits(listing, wanted)
            if files:
                return replace(listing, builds=self._hashed(listing.builds), has_upload_times=False)
        except OSError as error:
            raise PackageNotFound(
                f"the folder of wheels cannot be read: {error.strerror}",
                where=error.filename or str(self.folder),
                advice="Check the folder given with --wheelhouse and its permissions.",
            ) from error
        raise PackageNotFound(
            f"no wheels of {wanted.package!r} in the folder",
            where=str(self.folder),
            advice="Look at the spelling of `package`, or fill the folder with `pip download --no-deps`.",
        )

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:  # noqa: ARG002  as in every channel
        """The file itself, checked by uv against its hash; other requirements come from the same folder."""
        requirement = f"{build.package} @ {Path(build.location).as_uri()}#sha256={build.sha256}"
        return Installation((requirement,), ("--no-index", "--find-links", str(self.folder)), offline=True)

    def identified(self, build: Build) -> Build:
        """The build as it is: its commit is read from its environment."""
        return build

    def current(self, build: Build) -> Build:
        """The build with the hash that its file has now."""
        return self._hashed((build,))[0]

    def _wheels(self, package: str) -> Iterator[FoundFile]:
        for path in sorted(self.folder.iterdir()):
            name = read_wheel_name(path.name)
            if name and name.project == canonicalize_name(package) and path.is_file():
                yield FoundFile(path.name, str(path), size=path.stat().st_size)

    def _hashed(self, builds: tuple[Build, ...]) -> tuple[Build, ...]:
        digests = self.hashes.of([Path(build.location) for build in builds])
        return tuple(replace(build, sha256=digest) for build, digest in zip(builds, digests, strict=True))
