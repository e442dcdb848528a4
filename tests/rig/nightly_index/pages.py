"""The pages of the index, in the very form in which they are published (section 1.1 and 1.2 of the facts page)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum

from tests.rig.nightly_index.catalogue import Wheel

METADATA_SINCE = date(2025, 1, 3)  # of the page and of the wheel (TI #6116)
UPLOAD_TIMES_SINCE = date(2026, 4, 23)  # of the page (TI #8000)
ABSOLUTE_SINCE = {
    "torch": date(2026, 3, 9),  # TI #7819
    "torchvision": date(2026, 3, 9),  # "Feb-Mar 2026"
    "triton": date(2026, 3, 10),  # TI #7820, and its sisters
}


class Hrefs(Enum):
    """Where links point: as on the day of the page, or always one way (relative: the outage toggle of TI #8248)."""

    AS_OF_TODAY = "today"
    RELATIVE = "relative"
    ABSOLUTE = "absolute"


@dataclass(frozen=True, slots=True)
class Anchor:
    """One link of a page; `metadata_sha256` is None where there is no separate metadata file."""

    wheel: Wheel
    metadata_sha256: str | None
    uploaded: datetime | None


def has_metadata(wheel: Wheel) -> bool:
    """Whether the wheel's METADATA was published next to it."""
    return wheel.uploaded.date() >= METADATA_SINCE


def shows_metadata(now: datetime) -> bool:
    """Whether pages of that moment name metadata files."""
    return now.date() >= METADATA_SINCE


def shows_upload_times(now: datetime) -> bool:
    """Whether pages of that moment have upload times."""
    return now.date() >= UPLOAD_TIMES_SINCE


def is_absolute(package: str, hrefs: Hrefs, now: datetime) -> bool:
    """Whether the links of a package's page point at the second host."""
    if hrefs is not Hrefs.AS_OF_TODAY:
        return hrefs is Hrefs.ABSOLUTE
    since = ABSOLUTE_SINCE.get("triton" if "triton" in package else package)
    return since is not None and now.date() >= since


def sha256_of(text: str) -> str:
    """The hash of a metadata file."""
    return hashlib.sha256(text.encode()).hexdigest()


def package_page(package: str, anchors: Iterable[Anchor], base: str, now: datetime) -> bytes:
    """The page of one package; `base` is the second host's address or empty."""
    lines = [_line(anchor, base) for anchor in anchors]
    return _page([f"    <h1>Links for {package.lower().replace('_', '-')}</h1>", *lines], now)


def packages_page(packages: Sequence[str], now: datetime) -> bytes:
    """The list of packages of a variant."""
    names = sorted(package.replace("_", "-") for package in packages)
    return _page([f'    <a href="{name.lower()}/">{name}</a><br/>' for name in names], now)


def links_page(package: str, links: Iterable[tuple[str, str]], now: datetime) -> bytes:
    """A page whose links go to another index: (address, file name)."""
    lines = [f'    <a href="{address}">{name}</a><br/>' for address, name in links]
    return _page([f"    <h1>Links for {package}</h1>", *lines], now)


def _page(lines: Sequence[str], now: datetime) -> bytes:
    """Pages are made once an hour; their last line is the time, and no line break follows it."""
    made = int(regenerated(now).timestamp())
    parts = ["<!DOCTYPE html>", "<html>", "  <body>", *lines, "  </body>", "</html>", f"<!--TIMESTAMP {made}-->"]
    return "\n".join(parts).encode()


def regenerated(now: datetime) -> datetime:
    """When the page that is there at a moment was made."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _line(anchor: Anchor, base: str) -> str:
    key = anchor.wheel.key.replace("+", "%2B")
    attributes = ""
    if anchor.metadata_sha256:
        digest = f"sha256={anchor.metadata_sha256}"
        attributes += f' data-dist-info-metadata="{digest}" data-core-metadata="{digest}"'
    if anchor.uploaded:
        attributes += f' data-upload-time="{anchor.uploaded:%Y-%m-%dT%H:%M:%SZ}"'
    return f'    <a href="{base}/{key}"{attributes}>{anchor.wheel.filename}</a><br/>'
