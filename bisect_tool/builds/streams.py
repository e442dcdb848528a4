"""From the files of an index or a folder to the builds of a package in their order in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.builds.fitting import Fitting, WheelName, read_wheel_name

# A calendar version is believed when the file was uploaded this close to it: `2024.2.1` may be the second of February's.
_CALENDAR_SLACK = timedelta(days=2)
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that an index or a folder has.

    `version` is given when the file is not a wheel, or when the index spells it differently from the file name.
    `uploaded` is UTC, `yanked` the reason (may be empty), None when the file is not yanked.
    """

    filename: str
    location: str
    version: str | None = None
    sha256: str | None = None
    size: int | None = None
    uploaded: datetime | None = None
    requires_python: str | None = None
    yanked: str | None = None


@dataclass(frozen=True, slots=True)
class _Release:
    """All files of one version; `chosen` is the wheel that fits best, else `unfit` says why there is none."""

    version: Version
    spelled: str
    date: datetime | None
    chosen: FoundFile | None = None
    unfit: tuple[LeftOutBecause, str] | None = None


def listing_of(files: Iterable[FoundFile], wanted: Wanted, source: str) -> Listing:
    """The builds of `wanted.package` among `files`, and every version that is left out with its reason.

    Releases are in the order of their versions. In a dated stream, where most versions that can be installed are
    nightlies or calendar versions, the order is that of the dates and pre-releases count as builds.
    """
    fitting = Fitting(wanted.target)
    releases = [_release(*group, fitting, wanted) for group in _by_version(files, wanted.package).items()]
    installable = [release for release in releases if release.chosen]
    is_stream = _is_dated_stream(installable)
    dated = is_stream and all(release.date for release in installable)
    releases.sort(key=lambda release: (release.date or _BEGINNING if dated else _BEGINNING, release.version))
    kept, left_out = [], []
    for release in releases:
        reason = _reason(release, pre=wanted.pre or is_stream)
        if reason is None and release.chosen:
            kept.append(_build(release, release.chosen, wanted.package))
        elif reason is not None:
            left_out.append(LeftOut(release.spelled, release.date, *reason))
    used = [release.chosen for release in installable if release.chosen]
    has_times = bool(used) and all(file.uploaded for file in used)
    return Listing(tuple(kept), tuple(left_out), source, dated=dated, has_upload_times=has_times)


_Group = list[tuple[FoundFile, WheelName | None]]


def _by_version(files: Iterable[FoundFile], package: str) -> dict[Version, _Group]:
    """Files that belong to no version of the package are passed over."""
    groups: dict[Version, _Group] = {}
    for file in files:
        name = read_wheel_name(file.filename)
        if name is None:
            version = None if file.filename.endswith(".whl") else versions.parsed(file.version or "")
        else:
            version = name.version if name.project == canonicalize_name(package) else None
        if version is not None:
            groups.setdefault(version, []).append((file, name))
    return groups


def _release(version: Version, group: _Group, fitting: Fitting, wanted: Wanted) -> _Release:
    wheels = {name: file for file, name in group if name is not None and fitting.takes_python(file.requires_python)}
    whole = {name: file for name, file in wheels.items() if file.yanked is None}
    name = fitting.best(whole) or fitting.best(wheels)
    chosen = wheels[name] if name else None
    file, first_name = group[0]
    spelled = file.version or (first_name.spelled if first_name else str(version))
    uploaded = chosen.uploaded if chosen else min((f.uploaded for f, _ in group if f.uploaded), default=None)
    date = _date(version, uploaded)
    if chosen is None:
        return _Release(version, spelled, date, unfit=_why_unfit(group, fitting))
    yanked = (LeftOutBecause.YANKED, chosen.yanked) if chosen.yanked is not None and not wanted.yanked else None
    return _Release(version, spelled, date, chosen, yanked)


def _why_unfit(group: _Group, fitting: Fitting) -> tuple[LeftOutBecause, str]:
    wheels = [(file, name) for file, name in group if name is not None]
    if not wheels:
        return LeftOutBecause.NO_WHEEL, "only source archives"
    refused = sorted({file.requires_python or "" for file, name in wheels if fitting.rank(name) is not None})
    if refused:
        return LeftOutBecause.PYTHON, f"needs Python {' or '.join(refused)}"
    here = [name for _, name in wheels if fitting.has_platform(name)]
    if here:
        return LeftOutBecause.PYTHON, f"wheels for {_listed(tag.interpreter for name in here for tag in name.tags)}"
    return LeftOutBecause.NO_WHEEL, f"wheels for {_listed(tag.platform for _, name in wheels for tag in name.tags)}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words), key=lambda word: (len(word), word)))


def _date(version: Version, uploaded: datetime | None) -> datetime | None:
    inside = versions.date_in(version)
    if inside is None or uploaded is None or not _is_only_calendar(version, inside):
        return inside or uploaded
    return inside if abs(uploaded - inside) <= _CALENDAR_SLACK else uploaded


def _is_only_calendar(version: Version, date: datetime) -> bool:
    return not versions.is_dated_pre_release(version) and versions.calendar_date(version) == date


def _is_dated_stream(releases: Sequence[_Release]) -> bool:
    dated = sum(_has_stream_version(release) for release in releases)
    return 2 * dated > len(releases)


def _has_stream_version(release: _Release) -> bool:
    if versions.is_dated_pre_release(release.version):
        return True
    calendar = versions.calendar_date(release.version)
    return calendar is not None and calendar == release.date


def _reason(release: _Release, *, pre: bool) -> tuple[LeftOutBecause, str] | None:
    if release.unfit:
        return release.unfit
    if release.version.is_prerelease and not pre:
        return LeftOutBecause.PRE_RELEASE, ""
    return None


def _build(release: _Release, file: FoundFile, package: str) -> Build:
    return Build(
        package=package,
        version=release.spelled,
        filename=file.filename,
        location=file.location,
        date=release.date,
        sha256=file.sha256,
        size=file.size,
        variant=versions.variant_of(release.version),
        yanked=file.yanked,
    )
