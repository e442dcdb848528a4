"""The listing of a question that was answered a short while ago.

Asking the same question again does not list the builds anew while this is fresh. It is written only when a run has come to its
end and has found no file replaced; the report says as of when the listing is, and `--refresh` asks the index again. Whether the
files that an answer rests on are still the same is asked every time (`renewal`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bisect_tool import __version__
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Wanted

FRESH = timedelta(hours=1)  # the pages of nightlies are made once an hour
_FORMAT = 2


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Recent:
    """The listing of a question as of `asked` (UTC).

    `file` is where it is kept. `is_kept`: the listing comes from there, not from the index.
    """

    file: Path
    asked: datetime
    listing: Listing
    is_kept: bool = False

    def note(self) -> str:
        """For the report."""
        return f"the builds are those that the index had at {self.asked:%Y-%m-%d %H:%M} UTC; run it with --refresh to ask again"

    def remember(self) -> None:
        """Keep it. What cannot be kept is asked for again."""
        text = {
            "format": _FORMAT,
            "tool": __version__,
            "asked": self.asked.timestamp(),
            "listing": _as_values(self.listing),
        }
        with suppress(OSError, TypeError, ValueError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(text), encoding="utf-8")
            part.replace(self.file)

    def forget(self) -> None:
        """A file was replaced: nothing of it counts any more."""
        with suppress(OSError):
            self.file.unlink()


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was listed lately, in `folder`; `clock` gives the time (UTC, aware). With `refresh` nothing kept is used."""

    folder: Path
    refresh: bool
    clock: Callable[[], datetime] = field(default=_now, repr=False)

    def of(self, place: tuple[str, ...], wanted: Wanted, ask: Callable[[], Listing]) -> Recent:
        """The listing of `wanted` at `place` (the channel, its addresses): a fresh one that was kept, else what `ask` gives."""
        file = self.folder / f"{_digest(place, wanted)}.json"
        now = self.clock()
        kept = None if self.refresh else _read(file)
        if kept is not None and timedelta(0) <= now - kept.asked < FRESH:
            return kept
        return Recent(file, now, ask())


def _digest(place: tuple[str, ...], wanted: Wanted) -> str:
    """Over all that the listing depends on; tags are named by their text."""
    targets = [(one.python, [str(tag) for tag in one.tags]) for one in (wanted.target, *wanted.other_targets)]
    rest = (wanted.package, wanted.pre, wanted.yanked, wanted.variant, wanted.from_, wanted.to, wanted.machine)
    return hashlib.sha256(repr((__version__, place, targets, rest)).encode()).hexdigest()[:32]


def _read(file: Path) -> Recent | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if (found["format"], found["tool"]) != (_FORMAT, __version__):
            return None
        asked = datetime.fromtimestamp(found["asked"], UTC)
        return Recent(file, asked, _listing(found["listing"]), is_kept=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # nothing was kept, or nothing of use: the index is asked


def _as_values(listing: Listing) -> dict[str, Any]:
    """The listing of a channel whose builds are files."""
    return {
        "builds": [_fields(build) for build in listing.builds],
        "left_out": [_fields(one) | {"because": one.because.name} for one in listing.left_out],
        **{name: getattr(listing, name) for name in ("source", "dated", "has_upload_times", "notes", "is_bounded")},
    }


def _fields(value: Build | LeftOut) -> dict[str, Any]:
    names = value.__dataclass_fields__
    return {name: _plain(getattr(value, name)) for name in names if name != "base"}


def _plain(value: object) -> object:
    return (
        value.isoformat() if isinstance(value, datetime) else value if not isinstance(value, LeftOutBecause) else None
    )


def _listing(values: Mapping[str, Any]) -> Listing:
    return Listing(
        builds=tuple(Build(**_dated(one)) for one in values["builds"]),
        left_out=tuple(
            LeftOut(**_dated(one) | {"because": LeftOutBecause[one["because"]]}) for one in values["left_out"]
        ),
        source=values["source"],
        dated=values["dated"],
        has_upload_times=values["has_upload_times"],
        notes=tuple(values["notes"]),
        is_bounded=values["is_bounded"],
    )


def _dated(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "date": datetime.fromisoformat(values["date"]) if values["date"] else None}
