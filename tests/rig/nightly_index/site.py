"""Which page stands at an address at a moment: the index's own, or links to the files of the default index."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.rig import index_pages
from tests.rig.index_faults import Fault, FaultKind
from tests.rig.nightly_index import default_packages, pages
from tests.rig.nightly_index.catalogue import Wheel
from tests.rig.nightly_index.pages import Anchor
from tests.rig.nightly_index.paths import Asked

if TYPE_CHECKING:
    from tests.rig.nightly_index.index import NightlyIndex


def package_list(index: NightlyIndex, asked: Asked, moment: datetime) -> bytes | None:
    """The page with the packages of a variant, or of all; None for a variant that never had one."""
    if asked.folder and asked.folder not in index.plan.variants:
        return None
    own = index.catalogue.packages(asked.folder, moment)
    return pages.packages_page(sorted({*own, *default_packages.LINKED}), moment)


def page_of(index: NightlyIndex, asked: Asked, moment: datetime, faults: Mapping[FaultKind, Fault]) -> bytes | None:
    """The page of a package; None where there is none."""
    if asked.folder and asked.folder not in index.plan.variants:
        return None
    if asked.name in default_packages.LINKED:
        return _links(index, asked.name, moment)
    package = asked.name.replace("-", "_")
    made = pages.regenerated(moment)
    listed = index.listed(package, asked.folder, made)
    if asked.name != package.replace("_", "-") or not listed:
        return None
    base = index.r2_host if pages.is_absolute(package, index.hrefs, made) else ""
    return pages.package_page(package, [_anchor(index, wheel, made, faults) for wheel in listed], base, made)


def _anchor(index: NightlyIndex, wheel: Wheel, made: datetime, faults: Mapping[FaultKind, Fault]) -> Anchor:
    text = index.metadata(wheel) if pages.shows_metadata(made) and FaultKind.NO_METADATA not in faults else None
    shown = pages.shows_upload_times(made) and FaultKind.NO_UPLOAD_TIMES not in faults
    return Anchor(wheel, pages.sha256_of(text) if text else None, index.modified(wheel) if shown else None)


def _links(index: NightlyIndex, package: str, moment: datetime) -> bytes:
    """A copied page: its links point at the files of the default index."""
    files = index_pages.files_of(index.default.folder, package)
    links = [
        (f"{index.default.file_url(quote(file.filename))}#sha256={file.sha256}", file.filename)
        for file in files
        if file.uploaded and file.uploaded <= moment
    ]
    return pages.links_page(package, links, moment)
