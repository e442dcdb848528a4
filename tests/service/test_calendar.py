"""The builds of a package day by day."""

from __future__ import annotations

from datetime import date
from itertools import chain

from sqlalchemy import insert

from bisect_tool.service.calendar import (
    Calendar,
    Fault,
    Listed,
    Standing,
    Stream,
    Use,
    calendar_of,
    read_calendar,
    read_months,
    read_streams,
)
from bisect_tool.store import service_tables, tables
from bisect_tool.store.database import Database

FIRST, LAST = date(2026, 5, 1), date(2026, 5, 5)
STREAM = Stream("torch", "nightly")


def calendar(*rows: Listed, uses: tuple[Use, ...] = (), faults: tuple[Fault, ...] = ()) -> Calendar:
    return calendar_of(STREAM, rows, uses, faults, FIRST, LAST)


def listed(day: int, status: str = "listed", *, build: str = "", **more: str) -> Listed:
    return Listed(build or f"2.15.0.dev2026050{day}", f"2026-05-0{day}", status, **more)  # type: ignore[arg-type]


def test_every_day_has_a_standing() -> None:
    found = calendar(
        listed(1),
        listed(2, "hidden"),
        listed(3, "left out", because="missing (not there)"),
        listed(4),
        faults=(Fault("2.15.0.dev20260504", "any", "it does not import"),),
    )
    assert [one.standing for one in found.days] == [
        Standing.THERE,
        Standing.THERE,
        Standing.MISSING,
        Standing.BROKEN,
        Standing.NONE,
    ]
    assert found.days[2].left_out == (("2.15.0.dev20260503", "missing (not there)"),)
    assert found.days[3].builds[0].faults == ("it does not import",)


def test_a_day_with_a_build_that_works_is_not_broken() -> None:
    found = calendar(
        listed(1, build="a"), listed(1, build="b"), faults=(Fault("a", "x", "no driver", everywhere=False),)
    )
    assert found.days[0].standing is Standing.THERE
    assert [one.faults for one in found.days[0].builds] == [("no driver (on some hosts)",), ()]


def test_a_fault_of_the_file_that_was_replaced_is_not_one_of_the_new_file() -> None:
    row = Listed("a", "2026-05-01", "listed", identity="new", replaced=1)
    assert not calendar(row, faults=(Fault("a", "old", "broken"),)).days[0].builds[0].is_broken
    assert calendar(row, faults=(Fault("a", "new", "broken"),)).days[0].builds[0].is_broken


def test_who_looked_at_a_build() -> None:
    uses = (
        Use("q1", "one", "2.15.0.dev20260501", "2026-05-01", "pass"),
        Use("q2", "two", "2.15.0.dev20260501", "2026-05-01", "failing"),
        Use("q2", "two", "2.15.0.dev20260502", "2026-05-02", "pass"),
    )
    found = calendar(listed(1), uses=uses)
    assert [(use.name, use.state) for use in found.days[0].builds[0].uses] == [("one", "pass"), ("two", "failing")]
    assert [(one.status, one.size) for one in found.days[1].builds] == [("used", None)]
    assert [one.uses for one in found.days] == [2, 1, 0, 0, 0]


def test_what_one_stream_lacks_another_may_have() -> None:
    found = calendar(listed(1, "left out", build="a", because="missing"), listed(1, "listed", build="a"))
    assert [one.status for one in found.days[0].builds] == ["listed"]
    assert found.days[0].left_out == ()


def test_builds_without_a_date_have_a_place_of_their_own() -> None:
    assert [one.build for one in calendar(Listed("1.0", None, "listed")).undated] == ["1.0"]


def test_the_calendar_comes_from_the_database_alone(database: Database) -> None:
    question = dict.fromkeys(("digest", "title", "spec", "repro", "owner"), "")
    question |= {"id": "q1", "name": "one", "package": "torch", "channel": "nightly", "state": "answered"}
    stream = {"id": 1, "package": "torch", "channel": "nightly", "variant": "cpu", "device": "cpu", "python": ""}
    row = {"stream": 1, "status": "listed", "replaced": 0, "first_seen": 1.0, "last_seen": 1.0, "identity": "sha256:1"}
    broken = {
        "identity": "sha256:1",
        "setting": "s",
        "device": "cpu",
        "package": "torch",
        "reason": "dead",
        "found": "",
    }
    database.write(
        lambda connection: [
            connection.execute(insert(table), values)
            for table, values in (
                (service_tables.questions, question | {"submitted": 1.0, "changed": 1.0}),
                (service_tables.watched, stream | {"due": 0.0, "faults": 0, "newest": "b", "polled": 7.0}),
                (service_tables.listed_builds, row | {"build": "a", "day": "2026-04-30"}),
                (service_tables.listed_builds, row | {"build": "b", "day": "2026-05-02", "size": 5_000_000_000}),
                (
                    service_tables.used_builds,
                    {"question": "q1", "build": "b", "day": "2026-05-02", "state": "pass", "channel": "nightly"},
                ),
                (service_tables.listed_builds, row | {"build": "c", "day": "2026-06-01", "status": "left out"}),
                (service_tables.listed_builds, row | {"build": "d", "day": None}),
                (
                    service_tables.used_builds,
                    {"question": "q1", "build": "z", "day": "2026-02-01", "state": "pass", "channel": "nightly"},
                ),
                (tables.unusable, broken | {"version": "b"}),
            )
        ]
    )
    found = read_calendar(database, "torch", "nightly", FIRST, LAST)
    (build,) = chain.from_iterable(day.builds for day in found.days)
    assert (build.build, build.size, build.faults, [use.name for use in build.uses]) == (
        "b",
        5_000_000_000,
        ("dead",),
        ["one"],
    )
    assert (found.stream.newest, found.stream.polled) == ("b", 7.0)
    assert [(one.package, one.channel) for one in read_streams(database)] == [("torch", "nightly")]
    assert found.months == read_months(database, "torch", "nightly") == ("2026-02", "2026-04", "2026-05")
    assert read_calendar(database, "nothing", "nightly", FIRST, LAST).days[0].standing is Standing.NONE
    assert read_months(database, "nothing", "nightly") == ()
