"""Where builds come from: each channel's address, whether it answers, and how soon; and the clock, by what servers say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from bisect_tool.builds.index_address import find_index, without_credentials
from bisect_tool.builds.nightly.site import open_site
from bisect_tool.errors import SettingError
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Fetched, Place, Unanswered

ORDER = 50
_SLOW = 2.0  # seconds
_SKEW = timedelta(minutes=5)
_OK = 200


def check(place: Place) -> Iterator[Finding]:
    """One line for each channel that needs a place, and one for a clock that is wrong."""
    answered: list[Fetched] = []
    for channel, address in _addresses(place):
        if isinstance(address, Finding):
            yield address
            continue
        yield _asked(place, channel, address, answered)
    if place.settings.wheelhouse is not None or "wheelhouse" in place.asked.channel:
        yield _wheelhouse(place)
    yield from _clock(place, answered)


def _addresses(place: Place) -> Iterator[tuple[str, str | Finding]]:
    try:
        yield "release", find_index(place.settings.index, place.environ, place.home).url
    except SettingError as error:
        yield "release", Finding(about="index", level="problem", says=error.what, fix=error.advice)
    try:
        yield "nightly", open_site(place.settings.nightly_index).address
    except SettingError as error:
        yield "nightly", Finding(about="index", level="problem", says=error.what, fix=error.advice)


def _asked(place: Place, channel: str, address: str, answered: list[Fetched]) -> Finding:
    shown = without_credentials(address)
    asked = channel in place.asked.channel or (channel == "release" and "nightly" in place.asked.channel)
    level: Level = "problem" if asked else "warning"
    fix = f"look at the network or a proxy, name another index with --{'index' if channel == 'release' else 'nightly-index'}, "
    fix += "or use the channel `wheelhouse` with wheels that were brought along"
    try:
        found = place.fetch(f"{address.rstrip('/')}/{place.asked.package}/", None)
    except Unanswered as error:
        return Finding(about="index", level=level, says=f"channel {channel}: {shown}: {error}", fix=fix)
    answered.append(found)
    facts = {"channel": channel, "address": shown, "status": found.status, "first_byte_s": round(found.seconds, 3)}
    if found.status != _OK:
        says = f"channel {channel}: {shown} has no page of {place.asked.package}: status {found.status}"
        return Finding(about="index", level=level, says=says, fix=fix, facts=facts)
    says = f"channel {channel}: {shown} answers in {found.seconds:.1f} s"
    slow = found.seconds > _SLOW
    return Finding(
        about="index", level="warning" if slow else "ok", says=says, fix="a nearer mirror would help", facts=facts
    )


def _wheelhouse(place: Place) -> Finding:
    folder = place.settings.wheelhouse
    if folder is None:
        return Finding(about="index", level="problem", says="no wheelhouse is named", fix="name it: --wheelhouse DIR")
    count = len(list(Path(folder).glob("*.whl"))) if folder.is_dir() else 0
    level: Level = "ok" if count else "problem"
    says = f"channel wheelhouse: {count} wheels in {folder}"
    return Finding(
        about="index", level=level, says=says, fix="fill it with `pip download --no-deps`", facts={"wheels": count}
    )


def _clock(place: Place, answered: list[Fetched]) -> Iterator[Finding]:
    for found in answered:
        off = _off(found.headers, place)
        if off is None:
            continue
        if abs(off) > _SKEW:
            minutes, way = abs(off).total_seconds() / 60, "ahead" if off > timedelta() else "behind"
            says = f"the clock of this machine is {minutes:.0f} minutes {way}"
            yield Finding(
                about="clock", level="warning", says=says, fix="set it: dates of builds and pages depend on it"
            )
        else:
            yield Finding(about="clock", level="ok", says="agrees with that of the index")
        return


def _off(headers: Mapping[str, str], place: Place) -> timedelta | None:
    try:
        return place.now() - parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError, TypeError):
        return None
