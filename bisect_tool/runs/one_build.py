"""The one build that a text means: a version, a date, the file of a wheel, or, without any text, the newest of the range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.bound_text import ACCEPTED, DateBound, VersionBound, read_bound
from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.channel import Channel, open_channel
from bisect_tool.builds.fitting import read_wheel_name
from bisect_tool.errors import BoundError
from bisect_tool.runs.asking import Asked, ask
from bisect_tool.runs.surveying import COMMITS, NIGHTLY, Means, Stage, Survey, Wishes, survey
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec

WHEELHOUSE, RELEASE = "wheelhouse", "release"
LONGEST_PAUSE = timedelta(days=7)  # between two nightlies
_S = TypeVar("_S", bound=Survey)


@dataclass(frozen=True, slots=True)
class _Meant:
    """What a text means: the stage to survey, and either the wheel's file or the bound; None for both is the newest."""

    stage: Stage
    file: Path | None = None
    bound: DateBound | VersionBound | None = None


def ask_one(read: ReadSpec, wishes: Wishes, means: Means, text: str | None, now: datetime) -> tuple[Asked, int]:
    """The question of a spec over the one build that `text` means, and that build's number.

    Where numbers are compared the other builds of the range stay, because one of them is the reference.
    Raises what `ask` raises, and `BoundError` when `text` means no build.
    """
    meant = _meant(read.spec, text, now)
    asked = ask(read, _wishes(wishes, meant), _means(means, meant), meant.stage, least=1)
    found = _from_file(asked, means, meant)
    number = _number(found, meant)
    if read.spec.metrics:
        return found, number
    return _narrowed(found, number), 0


def survey_one(
    spec: Spec, folder: Path, wishes: Wishes, means: Means, text: str | None, now: datetime
) -> tuple[Survey, int]:
    """The same without a repro. Raises what `survey` raises, and `BoundError`."""
    meant = _meant(spec, text, now)
    found = survey(spec, folder, _wishes(wishes, meant), _means(means, meant), meant.stage, least=1)
    found = _from_file(found, means, meant)
    return _narrowed(found, _number(found, meant)), 0


def some_days_before(moment: datetime, channel: str) -> str | None:
    """Where to begin looking for the newest build until a moment: listing nightlies costs requests for each day."""
    return f"{moment - LONGEST_PAUSE:%Y-%m-%d}" if channel == NIGHTLY else None


def _meant(spec: Spec, text: str | None, now: datetime) -> _Meant:
    channels = [channel for channel in spec.channel if channel != COMMITS] or [RELEASE]
    first = channels[0]
    if text is not None and text.endswith(".whl"):
        return _of_file(spec, Path(text))
    if spec.metrics:
        bound = None if text is None else read_bound(text.strip(), frozenset())
        return _Meant(Stage(first, spec.from_, spec.to), bound=bound)
    if text is None:
        return _newest(spec, first, now)
    bound = read_bound(text.strip(), frozenset())
    if isinstance(bound, DateBound):
        channel = next((one for one in channels if one == NIGHTLY), first)
        return _Meant(Stage(channel, some_days_before(bound.start, channel), bound.text), bound=bound)
    is_nightly = versions.is_dated_pre_release(bound.version) and first == RELEASE and spec.package == "torch"
    return _Meant(Stage(NIGHTLY if is_nightly else first, bound.text, bound.text), bound=bound)


def _newest(spec: Spec, channel: str, now: datetime) -> _Meant:
    """The newest build of the range; a range of nightlies is not listed from its beginning for it."""
    start = spec.from_
    if channel == NIGHTLY:
        end = now if spec.to is None else _moment(spec.to)
        start = spec.from_ if end is None else some_days_before(end, channel)
    return _Meant(Stage(channel, start, spec.to))


def _moment(text: str) -> datetime | None:
    bound = read_bound(text, frozenset())
    return bound.start if isinstance(bound, DateBound) else versions.date_in(text)


def _of_file(spec: Spec, path: Path) -> _Meant:
    name = read_wheel_name(path.name)
    if not path.is_file():
        raise BoundError(f"there is no such wheel: {path}", advice=f"Name a file. {ACCEPTED}")
    if name is None or name.project != canonicalize_name(spec.package):
        raise BoundError(
            f"{path.name} is not a wheel of {spec.package}",
            where=str(path),
            advice=f"Name a wheel of {spec.package}, or another package with --package.",
        )
    return _Meant(Stage(WHEELHOUSE, None, None), file=path.absolute())


def _wishes(wishes: Wishes, meant: _Meant) -> Wishes:
    """Whoever names a build means it, also when it is a pre-release or was yanked."""
    is_named = isinstance(meant.bound, VersionBound) or meant.file is not None
    return replace(wishes, pre=True, yanked=True) if is_named else wishes


def _means(means: Means, meant: _Meant) -> Means:
    return means if meant.file is None else replace(means, access=replace(means.access, wheelhouse=meant.file.parent))


def _number(found: Survey, meant: _Meant) -> int:
    """Which of the builds that were found is meant: the last one of several."""
    numbers = [number for number, build in enumerate(found.builds) if _is_meant(build, meant)]
    if numbers:
        return numbers[-1]
    if meant.file is not None:
        what = f"{meant.file.name} does not fit this machine or its Python {found.interpreter.version}"
        raise BoundError(what, where=str(meant.file), advice="Name another Python with --python, or another wheel.")
    assert meant.bound is not None
    ends = f"{found.builds[0].label} to {found.builds[-1].label}"
    raise BoundError(
        f"{meant.bound.text} is none of the builds from {ends}",
        advice="Numbers are compared with a reference build, so name a build of the range, or widen it with --from and --to.",
    )


def _is_meant(build: Build, meant: _Meant) -> bool:
    if meant.file is not None:
        return Path(build.location) == meant.file
    match meant.bound:
        case VersionBound():
            return meant.bound.means(Version(build.version))
        case DateBound():
            return build.date is not None and build.date < meant.bound.end
        case None:
            return True


def _narrowed(found: _S, number: int) -> _S:
    builds = (found.builds[number],)
    return replace(found, selection=replace(found.selection, builds=builds, left_out=()), twins={}, recent=None)


def _from_file(found: _S, means: Means, meant: _Meant) -> _S:
    """A wheel that was named takes what it needs from the index, unless a folder of wheels is there for that."""
    if meant.file is None or WHEELHOUSE in found.spec.channel or means.access.wheelhouse is not None:
        return found
    return replace(found, channel=_OneFile(found.channel, open_channel(RELEASE, means.access)))


@dataclass(frozen=True, slots=True)
class _OneFile:
    """The channel of a wheel that was named: the file is that of `wheels`, what it needs comes from `index`."""

    wheels: Channel
    index: Channel

    def listing(self, wanted: Wanted) -> Listing:
        """The wheels of its folder."""
        return self.wheels.listing(wanted)

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        """The file itself, the rest from the index."""
        own = self.wheels.installation(build, requires)
        return replace(self.index.installation(build, requires), requirements=own.requirements)

    def current(self, build: Build) -> Build:
        """With the hash that its file has now."""
        return self.wheels.current(build)

    def identified(self, build: Build) -> Build:
        """As it is."""
        return self.wheels.identified(build)

    def source_address(self) -> str:
        """The folder."""
        return self.wheels.source_address()
