"""The channel `release`: a package index that speaks the simple API, as JSON or as HTML.

https://packaging.python.org/en/latest/specifications/simple-repository-api/
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

import requests
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.cache_faults import cannot_keep
from bisect_tool.builds.channel import Access
from bisect_tool.builds.cuda_fit import without_unfit
from bisect_tool.builds.index_address import IndexAddress, find_index, without_credentials
from bisect_tool.builds.index_faults import not_a_page, unreachable
from bisect_tool.builds.index_session import TIMEOUTS, open_session
from bisect_tool.builds.nothing_fits import nothing_fits
from bisect_tool.builds.streams import FoundFile, listing_of
from bisect_tool.errors import PackageNotFound

if TYPE_CHECKING:
    # Loaded late where it is used: a question that was answered needs no page, and this takes 0.2 s.
    from pypi_simple import DistributionPackage, ProjectPage


def open_channel(access: Access) -> ReleaseChannel:
    """The index that `access` names, else the one of the usual settings.

    Raises:
        SettingError: the address or a settings file cannot be used.
    """
    return ReleaseChannel(find_index(access.index, os.environ, Path.home()), access.pages)


@dataclass(frozen=True, slots=True)
class ReleaseChannel:
    """Reads the page of a package from `index`; `pages` is the folder where pages are kept while they are fresh."""

    index: IndexAddress
    pages: Path | None = None
    backoff: float = 0.5

    def source_address(self) -> str:
        """The address of the index, without credentials."""
        return str(self.index)

    def listing(self, wanted: Wanted) -> Listing:
        """Every build that fits, oldest first.

        Raises:
            PackageNotFound: the index does not have the package, or nothing of it that fits.
            IndexUnreachable: no answer, or no index page.
            CacheNotWritable, DiskFull: the folder for pages cannot be written.
        """
        found = listing_of(self._files(wanted.package), wanted, self.source_address())
        listing = without_unfit(found, wanted, is_usual_index=self.index.is_default)
        if not listing.builds:
            raise nothing_fits(listing, wanted)
        return listing

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:  # noqa: ARG002  as in every channel
        """The file itself by its address, checked by uv against its hash; other requirements come from the same index."""
        fragment = f"#sha256={build.sha256}" if build.sha256 else ""
        options = () if self.index.is_default else ("--default-index", self.index.url)
        return Installation((f"{build.package} @ {build.location}{fragment}",), options)

    def identified(self, build: Build) -> Build:
        """The build as it is: its commit is read from its environment."""
        return build

    def current(self, build: Build) -> Build:
        """The build itself: the page gave its hash or its time of upload, and uv checks the hash."""
        return build

    def _files(self, package: str) -> list[FoundFile]:
        from pypi_simple import NoSuchProjectError, UnsupportedRepoVersionError

        where = self.source_address()
        try:
            page = self._fetch(package)
            files = list(_files_of(page))
        except NoSuchProjectError as error:
            raise _not_there(package, where) from error
        except requests.RequestException as error:
            raise unreachable(error, where) from error
        except (ValueError, UnsupportedRepoVersionError) as error:
            raise not_a_page(where) from error
        except OSError as error:
            raise cannot_keep("index pages", self.pages, error) from error
        # A login page or a list of other things is HTML as well; only a page that says what it is may be empty.
        if page.repository_version is None and not any(file.version for file in files):
            raise not_a_page(where)
        return files

    def _fetch(self, package: str) -> ProjectPage:
        from pypi_simple import PyPISimple, UnexpectedRepoVersionWarning

        session = open_session(self.pages, backoff=self.backoff)
        with PyPISimple(self.index.url, session=session) as client, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnexpectedRepoVersionWarning)
            return client.get_project_page(package, timeout=TIMEOUTS)


def _files_of(page: ProjectPage) -> Iterator[FoundFile]:
    spelled = _spelling(page.versions or ())
    for package in page.packages:
        read = versions.parsed(package.version or "")
        yield _file(package, spelled.get(read, package.version) if read else None)


def _spelling(listed: Sequence[str]) -> dict[Version, str]:
    """How the index writes each version: file names spell some differently."""
    return {read: text for text in listed if (read := versions.parsed(text))}


def _file(package: DistributionPackage, version: str | None) -> FoundFile:
    return FoundFile(
        filename=package.filename,
        location=without_credentials(urldefrag(package.url).url),
        version=version,
        sha256=package.digests.get("sha256"),
        size=package.size,
        uploaded=package.upload_time.astimezone(UTC) if package.upload_time else None,
        requires_python=package.requires_python,
        yanked=(package.yanked_reason or "") if package.is_yanked else None,
    )


def _not_there(package: str, where: str) -> PackageNotFound:
    return PackageNotFound(
        f"the index has no package {package!r}",
        where=where,
        advice="Look at the spelling of `package`; if it lives on another index, give that with --index.",
    )
