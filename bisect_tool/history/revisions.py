"""The commit that a build was made from, and how sure that is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from packaging.version import Version

from bisect_tool.builds.build import Build
from bisect_tool.builds.versions import is_dated_pre_release, parsed
from bisect_tool.errors import RevisionUnknown
from bisect_tool.history.carried import revision_in_version
from bisect_tool.history.nightlies import Nightly, NightlyMap, main_of_commit
from bisect_tool.history.projects import DatedBuilds
from bisect_tool.history.source import Source

_WEEK = timedelta(days=7)
# Between the checkout and the moment that the version is given: minutes, as measured; a coarse stamp may be an hour off.
_SLACK = timedelta(minutes=10)
_SLACK_OF_COARSE = timedelta(hours=1)
_UNITS = {8: timedelta(days=1), 10: timedelta(hours=1), 12: timedelta(minutes=1), 14: timedelta(0)}


class Basis(StrEnum):
    """What the revision of a build rests on, surest first."""

    CARRIED = "carried"
    TAG = "tag"
    CONTENT = "content"
    NIGHTLY_DATE = "nightly date"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Revision:
    """The commit of a build on the line of development.

    `sha` is the most likely one, `earliest` and `latest` the ends of what is possible: a list of commits must begin at the
    `earliest` of the older build and end at the `latest` of the newer. `carried` is what the wheel itself says, which for a
    nightly is a commit of the nightly branch. `how` says in a sentence where it comes from.
    """

    sha: str
    basis: Basis
    how: str
    earliest: str
    latest: str
    carried: str | None = None

    @property
    def is_certain(self) -> bool:
        """Whether only one commit is possible."""
        return self.earliest == self.latest


def revision_of(build: Build, source: Source, nightlies: NightlyMap | None = None) -> Revision:
    """The commit that `build` was made from. `nightlies`, where they are at hand, save asking for each build.

    Raises `RevisionUnknown` when nothing leads to one, `HistoryUnavailable`.
    """
    if carried := build.revision or revision_in_version(build.version):
        return _carried(carried, source, nightlies)
    if not is_dated_pre_release(build.version):
        return _released(build, source)
    if source.project.dated is DatedBuilds.NIGHTLY_BRANCH:
        return _of_the_night(build, source, nightlies)
    return _at_the_time(build, source)


def tags_of(version: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that a release may have, most likely first: `v2.14.1`; `v2.14.0-rc1` also for `2.14.0rc1`."""
    read = parsed(version)
    spellings = [version.split("+", 1)[0]]
    if read is not None:
        spellings += [read.public, re.sub(r"(?<=\d)(a|b|rc)(?=\d)", r"-\1", read.public), *_padded(read)]
    return tuple(dict.fromkeys(pattern.format(version=spelling) for spelling in spellings for pattern in patterns))


def _padded(version: Version) -> list[str]:
    """`3.9` may be tagged `3.9.0`."""
    return (
        [".".join(map(str, (*version.release, 0)))]
        if version.is_prerelease is False and len(version.release) < 3
        else []
    )


def _carried(carried: str, source: Source, nightlies: NightlyMap | None) -> Revision:
    nightly = nightlies.by_revision(carried) if nightlies else None
    if nightly:
        return _exactly(nightly.main, f"the wheel is the nightly of {nightly.day} ({carried[:12]})", carried)
    commit = source.commit(carried)
    main = main_of_commit(commit)
    how = f"the wheel carries {carried[:12]}" + (f", {commit.title[:24].strip()}" if main != commit.sha else "")
    return _exactly(main, how, carried)


def _exactly(sha: str, how: str, carried: str) -> Revision:
    return Revision(sha, Basis.CARRIED, how, sha, sha, carried)


def _released(build: Build, source: Source) -> Revision:
    tags = tags_of(build.version, source.project.tags)
    for tag in tags:
        try:
            sha = source.resolve(f"tags/{tag}")
        except RevisionUnknown:
            continue
        return Revision(sha, Basis.TAG, f"the release has the tag {tag}", sha, sha)
    raise RevisionUnknown(
        f"{build.package} {build.version} carries no revision and has no tag ({', '.join(tags[:3])})",
        where=source.place,
        advice="fetch the tags of the clone (`git fetch --tags`), or look at `source`",
    )


def _of_the_night(build: Build, source: Source, nightlies: NightlyMap | None) -> Revision:
    """By the date in the version: that of the build job, which may have run a day after the nightly was cut."""
    day = _moment(build).date()
    known = nightlies if nightlies and nightlies.covers(day) else source.nightlies(day - _WEEK, day)
    found = known.between(day - _WEEK, day)
    that_day = found.on(day)
    newest = found.newest_until(day)
    if newest is None:
        raise RevisionUnknown(
            f"no nightly was cut in the week before {day}", where=source.place, advice="fetch the nightly branch"
        )
    earlier = _before(found, day)
    how = (
        f"its date is that of the nightly {newest.day}"
        if that_day
        else f"no nightly was cut on {day}; {newest.day} was"
    )
    return Revision(newest.main, Basis.NIGHTLY_DATE, how, (earlier or newest).main, newest.main)


def _before(nightlies: NightlyMap, day: date) -> Nightly | None:
    return nightlies.newest_until(day - timedelta(days=1))


def _at_the_time(build: Build, source: Source) -> Revision:
    """By time: what the branch held when the version was given."""
    moment = _moment(build)
    unit = _unit(build.version)
    last = moment + unit - timedelta(seconds=1)  # what is committed in the second of the stamp was not in the checkout
    latest = source.newest_before(last)
    earliest = source.newest_before(moment - (_SLACK if unit < timedelta(hours=1) else _SLACK_OF_COARSE))
    if latest is None:
        raise RevisionUnknown(
            f"the branch {source.project.branch} had no commit before {last:%Y-%m-%d %H:%M} UTC",
            where=source.place,
            advice="look at `source`",
        )
    how = f"what {source.project.branch} held at {moment:%Y-%m-%d %H:%M} UTC, the time in its version"
    first = latest if earliest is None else earliest
    return Revision(latest.sha, Basis.TIME, how, first.sha, latest.sha)


def _moment(build: Build) -> datetime:
    if build.date is None:
        raise ValueError(f"a dated version has a date: {build.version}")
    return build.date.astimezone(UTC)


def _unit(version: str) -> timedelta:
    """How precise the date in a version is."""
    read = parsed(version)
    numbers = (read.dev, read.pre[1] if read.pre else None, read.post) if read else ()
    digits = next((len(str(number)) for number in numbers if number is not None and len(str(number)) in _UNITS), 8)
    return _UNITS[digits]
