"""The pages of the nightly index: which wheels are listed, in which variant, since when.

Pages are simple HTML (PEP 503) with attributes of PyTorch's own; a mirror may give JSON (PEP 691). A wheel belongs to the
variant whose folder its link points into: wheels at the root of the nightlies are listed on the page of every variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

import requests
from packaging.utils import canonicalize_name

from bisect_tool.builds import versions
from bisect_tool.builds.fitting import WheelName, read_wheel_name
from bisect_tool.builds.index_address import without_credentials
from bisect_tool.builds.index_faults import not_a_page
from bisect_tool.builds.nightly.site import OPTION, Site
from bisect_tool.builds.nightly.tables import VARIANT

if TYPE_CHECKING:
    # Loaded late where it is used: a question that was answered needs no page, and this takes 0.2 s.
    from pypi_simple import ProjectPage, RepositoryPage


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A wheel on a page. `variant` is None at the root; `uploaded` UTC; `has_metadata`: PEP 658 beside it.

    A hash that a mirror may add is not taken: a file must not change its identity when it is no longer listed.
    """

    filename: str
    location: str
    name: WheelName
    variant: str | None
    uploaded: datetime | None
    has_metadata: bool
    requires_python: str | None = None

    @property
    def day(self) -> datetime | None:
        """The date inside its version (UTC midnight), None when it has none."""
        return versions.date_in(self.name.version)


def read_page(site: Site, package: str, variant: str | None = None) -> tuple[ListedFile, ...] | None:
    """The wheels of `package` that the page of a variant lists (None: of all variants); None when there is no page.

    Raises:
        IndexUnreachable: no answer, or no index page.
    """
    from pypi_simple import ACCEPT_ANY, UnsupportedContentTypeError, UnsupportedRepoVersionError

    address = site.url(*((variant,) if variant else ()), canonicalize_name(package)) + "/"
    answer = site.page(address, ACCEPT_ANY)
    if answer is None:
        return None
    try:
        found, says_what_it_is = _read(answer, package)
    except (ValueError, UnsupportedRepoVersionError, UnsupportedContentTypeError) as error:
        raise not_a_page(address, OPTION) from error
    files = tuple(file for file in found if file.name.project == canonicalize_name(package))
    # A login page is HTML as well; only a page that says what it is may be empty.
    if not files and not says_what_it_is:
        raise not_a_page(address, OPTION)
    return files


def _read(answer: requests.Response, package: str) -> tuple[list[ListedFile], bool]:
    from pypi_simple import ProjectPage, RepositoryPage

    if "json" in answer.headers.get("Content-Type", ""):
        page = ProjectPage.from_response(answer, package)
        return list(_from_json(page)), True
    html = RepositoryPage.from_html(answer.content, base_url=answer.url, from_encoding=answer.encoding)
    return list(_from_links(html)), html.repository_version is not None


def _from_json(page: ProjectPage) -> Iterator[ListedFile]:
    for one in page.packages:
        file = _file(one.url, one.upload_time, has_metadata=bool(one.has_metadata), requires_python=one.requires_python)
        if file is not None:
            yield file


def _from_links(page: RepositoryPage) -> Iterator[ListedFile]:
    for link in page.links:
        words = link.attrs
        metadata = words.get("data-core-metadata") or words.get("data-dist-info-metadata")
        requires_python = link.get_str_attrib("data-requires-python")
        uploaded = _time(link.get_str_attrib("data-upload-time"))
        file = _file(link.url, uploaded, has_metadata=bool(metadata), requires_python=requires_python)
        if file is not None:
            yield file


def _file(url: str, uploaded: datetime | None, *, has_metadata: bool, requires_python: str | None) -> ListedFile | None:
    address = urldefrag(url).url
    path = PurePosixPath(unquote(urlsplit(address).path))
    name, folder = read_wheel_name(path.name), path.parent.name
    if name is None:
        return None
    return ListedFile(
        filename=path.name,
        location=without_credentials(address),
        name=name,
        variant=folder if VARIANT.fullmatch(folder) else None,
        uploaded=uploaded.astimezone(UTC) if uploaded else None,
        has_metadata=has_metadata,
        requires_python=requires_python,
    )


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


@dataclass(slots=True)
class Pages:
    """The pages of a site, each read once for as long as this object lives."""

    site: Site
    _read: dict[tuple[str, str | None], tuple[ListedFile, ...] | None] = field(default_factory=dict)

    def of(self, package: str, variant: str | None = None) -> tuple[ListedFile, ...] | None:
        """See `read_page`."""
        key = (canonicalize_name(package), variant)
        if key not in self._read:
            self._read[key] = read_page(self.site, *key)
        return self._read[key]
