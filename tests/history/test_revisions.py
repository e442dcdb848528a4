from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bisect_tool.builds.build import Build
from bisect_tool.builds.versions import date_in
from bisect_tool.errors import RevisionUnknown
from bisect_tool.history.projects import Project
from bisect_tool.history.revisions import Basis, Revision, revision_of, tags_of
from bisect_tool.history.source import HistoryAccess, Source, open_source
from tests.history.places import ENVIRON, TORCH
from tests.rig.git_history import GitHistory, MadeNightly
from tests.rig.git_history.typical import Typical

KERAS = Project("keras-team/keras", ("keras", "keras-nightly"))


def build(version: str, *, package: str = "torch", revision: str | None = None) -> Build:
    return Build(package, version, f"{package}-{version}-py3-none-any.whl", "x", date_in(version), revision=revision)


def ends(revision: Revision) -> tuple[str, str, str]:
    return revision.earliest, revision.sha, revision.latest


def night(typical: Typical, day: date) -> MadeNightly:
    return [nightly for nightly in typical.nightlies if nightly.day == day][-1]


def test_a_nightly_that_carries_its_revision(source: Source, typical: Typical) -> None:
    made = night(typical, date(2026, 3, 5))
    for carried in (made.sha, made.sha[:10]):
        found = revision_of(build("2.12.0.dev20260305+cu130", revision=carried), source)
        assert ends(found) == (made.main, made.main, made.main)
        assert (found.basis, found.carried) == (Basis.CARRIED, carried)
        assert found.is_certain


def test_the_map_saves_a_question(typical: Typical, tmp_path: Path) -> None:
    made = night(typical, date(2026, 3, 5))
    known = open_source(TORCH, HistoryAccess(clone=typical.folder, environ=ENVIRON)).nightlies(date.min, date.max)
    nobody = open_source(TORCH, HistoryAccess(offline=True, cache=tmp_path))
    assert revision_of(build("2.12.0.dev20260305", revision=made.sha), nobody, known).sha == made.main


def test_a_build_from_source_carries_its_own_commit(source: Source, typical: Typical) -> None:
    sha = typical.commits[20].sha
    found = revision_of(build(f"2.12.0a0+git{sha[:9]}"), source)
    assert ends(found) == (sha, sha, sha)


def test_a_revision_that_nobody_knows(source: Source) -> None:
    with pytest.raises(RevisionUnknown):
        revision_of(build("2.12.0.dev20260305", revision="e" * 40), source)


def test_a_nightly_by_its_date_may_be_the_one_before(source: Source, typical: Typical) -> None:
    found = revision_of(build("2.12.0.dev20260305+cu130"), source)
    assert found.basis is Basis.NIGHTLY_DATE
    assert ends(found) == (
        night(typical, date(2026, 3, 4)).main, night(typical, date(2026, 3, 5)).main, night(typical, date(2026, 3, 5)).main,
    )  # fmt: skip
    assert not found.is_certain


def test_a_map_that_does_not_reach_the_day_is_not_trusted(source: Source, typical: Typical) -> None:
    short = source.nightlies(date(2026, 3, 5), date(2026, 3, 6))
    for day, before in ((5, 4), (9, 7)):
        found = revision_of(build(f"2.12.0.dev202603{day:02}"), source, short)
        assert found.earliest == night(typical, date(2026, 3, before)).main
        assert found.latest == night(typical, date(2026, 3, day)).main


def test_a_day_without_a_nightly(source: Source, typical: Typical) -> None:
    found = revision_of(build("2.12.0.dev20260308"), source)
    assert found.sha == night(typical, date(2026, 3, 7)).main
    assert "no nightly was cut on 2026-03-08" in found.how


def test_the_same_commit_on_both_days_is_certain(source: Source, typical: Typical) -> None:
    found = revision_of(build("2.12.0.dev20260312"), source)
    assert found.is_certain
    assert found.sha == night(typical, date(2026, 3, 11)).main


def test_long_before_the_first_nightly(source: Source) -> None:
    with pytest.raises(RevisionUnknown, match="no nightly was cut"):
        revision_of(build("1.0.0.dev20190308"), source)


def test_a_release_by_its_tag(source: Source, typical: Typical) -> None:
    found = revision_of(build("2.99.1+cu130"), source)
    assert ends(found) == (typical.tags["v2.99.1"],) * 3
    assert (found.basis, found.how) == (Basis.TAG, "the release has the tag v2.99.1")


def test_a_release_without_a_tag(source: Source) -> None:
    with pytest.raises(RevisionUnknown, match=r"no tag \(v3.0.0"):
        revision_of(build("3.0.0"), source)


@pytest.mark.parametrize(
    ("version", "patterns", "tags"),
    [
        ("2.14.1+cu130", ("v{version}",), ("v2.14.1",)),
        ("2.14.0rc1", ("v{version}",), ("v2.14.0rc1", "v2.14.0-rc1")),
        ("3.9", ("v{version}", "{version}"), ("v3.9", "3.9", "v3.9.0", "3.9.0")),
        ("1.13.1", ("sympy-{version}",), ("sympy-1.13.1",)),
        ("2023d", ("{version}",), ("2023d",)),
    ],
)
def test_how_tags_may_be_written(version: str, patterns: tuple[str, ...], tags: tuple[str, ...]) -> None:
    assert tags_of(version, patterns) == tags


TIMES = ((1, 9, 0), (2, 9, 0), (3, 2, 30), (3, 9, 0))


@pytest.fixture
def timed(tmp_path: Path) -> tuple[Source, list[str]]:
    """One commit at 09:00 of each of three days, and one at 02:30 of the third."""
    with GitHistory(tmp_path / "r") as history:
        times = [datetime(2026, 3, day, hour, minute, tzinfo=UTC) for day, hour, minute in TIMES]
        made = [history.land(f"At {when}", {"a": str(when)}, when=when).sha for when in times]
    return open_source(KERAS, HistoryAccess(clone=tmp_path / "r", environ=ENVIRON)), made


def test_a_date_to_the_hour(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    found = revision_of(build("3.15.0.dev2026030301", package="keras-nightly"), source)
    assert ends(found) == (made[1],) * 3
    assert found.basis is Basis.TIME


def test_a_commit_within_the_hour_is_possible_or_not(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    assert ends(revision_of(build("3.15.0.dev2026030302", package="keras-nightly"), source)) == (
        made[1],
        made[2],
        made[2],
    )


def test_a_date_to_the_second(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    found = revision_of(build("0.5.2.dev20260302223456", package="liger-kernel-nightly"), source)
    assert ends(found) == (made[1],) * 3


def test_a_commit_minutes_before_the_stamp_may_be_too_late(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    at = {minute: build(f"0.5.2.dev202603030{minute}", package="liger-kernel-nightly") for minute in ("23400", "24100")}
    assert ends(revision_of(at["23400"], source)) == (made[1], made[2], made[2])
    assert ends(revision_of(at["24100"], source)) == (made[2],) * 3


def test_a_commit_in_the_second_of_the_stamp_is_too_late(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    same, next_one = (build(f"0.5.2.dev2026030302300{second}", package="liger-kernel-nightly") for second in (0, 1))
    assert ends(revision_of(same, source)) == (made[1],) * 3
    assert ends(revision_of(next_one, source)) == (made[1], made[2], made[2])


def test_a_date_to_the_day_may_be_any_commit_of_it(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    assert ends(revision_of(build("0.1.dev20260303"), source)) == (made[1], made[3], made[3])


def test_before_the_first_commit(timed: tuple[Source, list[str]]) -> None:
    with pytest.raises(RevisionUnknown, match="had no commit before"):
        revision_of(build("0.1.dev20200101", package="keras"), timed[0])


def test_the_day_of_the_first_commit(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    assert ends(revision_of(build("0.1.dev20260301", package="keras"), source)) == (made[0],) * 3


def test_times_are_utc(timed: tuple[Source, list[str]]) -> None:
    source, made = timed
    zone = datetime(2026, 3, 3, 9, tzinfo=UTC).astimezone().tzinfo
    found = source.newest_before(datetime(2026, 3, 3, 8, 59, tzinfo=UTC).astimezone(zone))
    assert found is not None
    assert found.sha == made[2]
    assert found.date == datetime(2026, 3, 3, 2, 30, tzinfo=UTC)
    assert found.date.utcoffset() == timedelta(0)
