"""Where to look: channel, `from` and `to`, made of what a report says of builds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from packaging.version import Version

from bisect_tool.spec.drafting.finding import Found, default, found, guessed
from bisect_tool.spec.drafting.said import Mention, Said

RELEASES_BEFORE = 2
RELEASES_AFTER = 2
DAYS_BEFORE = 60  # of nightlies, when only they fail
OPEN_DAYS = 365


@dataclass(frozen=True, slots=True)
class Span:
    """`first` and `last` are bounds as a spec has them; None: left out. `advice` is what to try next, or empty."""

    channel: Found[str]
    first: Found[str | None]
    last: Found[str | None]
    advice: str = ""


def span_of(said: Said, opened: date | None) -> Span:
    """The range to search.

    Both ends of a range of releases are builds that are said to differ, where the report names two: a failure of a single
    release between two ends that pass is easily missed.
    """
    failing = _failing(said)
    good = _last_good(said, failing)
    if failing and not failing.is_nightly and failing is not said.failing and failing not in said.bad:
        return _around_named(said, failing, opened)
    if failing and failing.is_nightly and good and good.is_nightly:
        return _between_nightlies(good, failing)
    if failing and failing.is_nightly and said.only_nightlies and not (good and good.version and not good.is_nightly):
        return _only_nightlies(failing, said.only_nightlies)
    if failing and _is_release(failing):
        return _around_release(said, failing, good, opened)
    return Span(_release(failing), _first(failing, good, opened), _after(failing), _advice(failing))


def _around_named(said: Said, failing: Mention, opened: date | None) -> Span:
    """Of builds that are only named the newest fails, and an older one works if the report says that it once did."""
    good = _last_good(said, failing)
    older = [one for one in said.named if not one.is_nightly and _is_older(one, failing)]
    first = _first(failing, good, opened)
    if good is None and said.changed and older:
        named = _extreme(older, last=True)
        assert named
        why = f"the report names {named.text} and says that it once worked"
        first = guessed(_short(_version(named)), "from-named", why, named.line)
    if not _is_release(failing):
        return Span(_release(failing), first, _after(failing), _advice(failing))
    why = f"{failing.text} is the newest that the report names"
    last: Found[str | None] = guessed(_short(_version(failing)), "to-named", why, failing.line)
    return Span(_release(failing), first, last, "whether it was fixed since: leave `to` out")


def _around_release(said: Said, failing: Mention, good: Mention | None, opened: date | None) -> Span:
    bad = [one for one in (failing, *said.bad) if _is_release(one)]
    oldest, newest = min(bad, key=_version), max(bad, key=_version)
    fixed = [one for one in said.good if _is_release(one) and _version(one) > _version(newest)]
    channel = _release(failing)
    if good is None and fixed:
        first = min(fixed, key=_version)
        return Span(
            channel,
            found(_short(_version(oldest)), "from-bad", f"{oldest.text} fails", oldest.line),
            found(_short(_version(first)), "to-good", f"{first.text} works again", first.line),
            "since when it fails: leave `from` out",
        )
    last: Found[str | None] = found(_short(_version(newest)), "to-bad", f"{newest.text} fails", newest.line)
    return Span(channel, _first(failing, good, opened), last, "whether it was fixed since: leave `to` out")


def _is_release(mention: Mention) -> bool:
    return mention.version is not None and not mention.version.is_prerelease


def _version(mention: Mention) -> Version:
    return mention.version or Version("0")


def _failing(said: Said) -> Mention | None:
    """The build of the reporter, else the oldest that is said to fail, else the newest that is named."""
    stated = None if _is_said_to_work(said) else said.failing
    return stated or _extreme(said.bad, last=False) or _extreme(said.named, last=True)


def _is_said_to_work(said: Said) -> bool:
    """Whether the build of the reporter is one that the report says to work: others fail that are newer."""
    stated = said.failing.version if said.failing and not said.failing.is_nightly else None
    if stated is None:
        return False
    good = [one.version for one in said.good if one.version and _base(one.version) >= _base(stated)]
    return any(other.version and other.version > one for one in good for other in said.bad)


def _base(version: Version) -> Version:
    return Version(version.base_version)


def _last_good(said: Said, failing: Mention | None) -> Mention | None:
    """The newest build that works and is older than every build that fails."""
    worst = [one for one in (failing, *said.bad) if one]
    older = [one for one in said.good if all(_is_older(one, other) for other in worst)]
    if failing and failing.is_nightly and any(one.is_nightly for one in older):
        older = [one for one in older if one.is_nightly]
    return _extreme(older, last=True)


def _extreme(mentions: Sequence[Mention], *, last: bool) -> Mention | None:
    dated = [one for one in mentions if one.is_nightly]
    kinds = [one for one in mentions if not one.is_nightly] or dated
    ordered = sorted(kinds, key=lambda one: one.order)
    return ordered[-1 if last else 0] if ordered else None


def _is_older(one: Mention, other: Mention) -> bool:
    if one.day and other.day:
        return one.day < other.day
    if one.version and other.version:
        return one.version < other.version
    return True  # a day and a version: nothing here knows which came first


def _between_nightlies(good: Mention, failing: Mention) -> Span:
    assert good.day
    assert failing.day
    why = f"{good.text} works and {failing.text} fails"
    return Span(
        found("nightly", "channel-nightly", why, failing.line),
        found(good.day.isoformat(), "from-good", f"{good.text} works", good.line),
        found(failing.day.isoformat(), "to-bad", f"{failing.text} fails", failing.line),
    )


def _only_nightlies(failing: Mention, line: int) -> Span:
    assert failing.day
    first = failing.day - timedelta(days=DAYS_BEFORE)
    return Span(
        found("nightly", "channel-nightly", "only nightlies fail", line),
        guessed(first.isoformat(), "from-days-before", f"{DAYS_BEFORE} days before {failing.text}", failing.line),
        found(failing.day.isoformat(), "to-bad", f"{failing.text} fails", failing.line),
    )


def _release(failing: Mention | None) -> Found[str]:
    if failing and failing.is_nightly:
        return guessed(
            "release", "channel-release", f"the releases around the nightly {failing.text} first", failing.line
        )
    return default("release", "channel-release", "releases are few and stay")


def _first(failing: Mention | None, good: Mention | None, opened: date | None) -> Found[str | None]:
    if good and good.version:
        return found(_short(good.version), "from-good", f"{good.text} works", good.line)
    if good and good.day:
        return found(good.day.isoformat(), "from-good", f"{good.text} works", good.line)
    start = failing.day if failing and failing.day else opened
    before = _before(failing.version, start) if failing and failing.version else None
    if failing and before:
        why = f"{RELEASES_BEFORE} releases before {failing.text}, which fails"
        return guessed(before, "from-two-before", why, failing.line)
    if start:
        first = (start - timedelta(days=OPEN_DAYS)).isoformat()
        is_dated = failing is not None and failing.day is not None
        why = f"{OPEN_DAYS} days before " + ("the nightly that fails" if is_dated else "the report was filed")
        return guessed(first, "from-a-year-before", why, failing.line if is_dated and failing else None)
    known = "no build is known that works" if failing else "no build is named"
    return default(None, "from-walk-back", f"{known}: the search walks back from the newest")


def _advice(failing: Mention | None) -> str:
    if failing is None or failing.day is None:
        return ""
    first, last = failing.day - timedelta(days=DAYS_BEFORE), failing.day
    span = f"`from: {first.isoformat()}`, `to: {last.isoformat()}`"
    return f"for the commit, or when no release shows it: `channel: nightly`, {span}"


def _after(failing: Mention | None) -> Found[str | None]:
    """Behind a build that is no release: one that nobody has yet moves inwards to the newest."""
    if failing is None or failing.version is None:
        return default(None, "to-newest", "to the newest release")
    version = failing.version
    last = f"{version.major}.{version.minor + RELEASES_AFTER}"
    return guessed(last, "to-two-after", f"{RELEASES_AFTER} releases after {failing.text}, which fails", failing.line)


def _short(version: Version) -> str:
    """`2.8` for 2.8.0 (a bound means the release whether or not the zero is written), else the public version."""
    if version.is_devrelease and version.pre is None:
        return version.public
    return (
        version.public.removesuffix(".0") if len(version.release) == 3 and version.release[2] == 0 else version.public
    )


def _before(version: Version, day: date | None) -> str | None:
    """The release that comes `RELEASES_BEFORE` minor ones earlier; `from` need not be a build, it moves inwards.

    Which was the last minor one of the major version before is not known here: None where `day`, on which the version was
    there, tells more; else the first one of that major version, but not of 0, which may be ancient.
    """
    minor = version.minor - RELEASES_BEFORE
    if minor >= 0:
        return f"{version.major}.{minor}"
    return f"{version.major - 1}.0" if day is None and version.major > 1 else None
