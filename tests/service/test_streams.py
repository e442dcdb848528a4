"""What looks at a channel of nightlies see, day after day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest

from bisect_tool.builds.build import Build, Listing, Wanted
from bisect_tool.builds.fitting import target_for
from bisect_tool.service.answers import Answers
from bisect_tool.service.calendar import Standing, read_calendar
from bisect_tool.service.streams import LOOKS_BACK, Seen, StreamKey, Streams
from bisect_tool.service.watches import Watches, Watching
from bisect_tool.store.address import StoreAddress
from tests.builds.nightly.conftest import channel
from tests.rig.answers import answer
from tests.rig.nightly_index import Missing, NightlyIndex, NightlyPlan
from tests.rig.service_scene import Scene, scene

FIRST, TODAY = date(2026, 10, 1), date(2026, 10, 7)
KEY = StreamKey("torch", "nightly", device="cpu", python="3.11")


@pytest.fixture
def at(own_address: StoreAddress) -> Iterator[Scene]:
    with scene(own_address) as made:
        yield made


@pytest.fixture
def index() -> Iterator[NightlyIndex]:
    plan = NightlyPlan(
        first=FIRST, last=date(2026, 10, 9), variants=("cpu",), pythons=("cp311",), known_gaps=False,
        missing=(Missing(date(2026, 10, 4)),),
    )  # fmt: skip
    with NightlyIndex(plan, today=TODAY) as index:
        yield index


def name(day: int) -> str:
    return f"202610{day:02}"


def test_a_nightly_that_comes_one_that_is_missing_and_one_that_is_replaced(
    at: Scene, index: NightlyIndex, tmp_path: Path
) -> None:
    streams = Streams(at.database)

    def look() -> Seen:
        at.hand.move(days=1)
        (stream,) = streams.due([KEY])
        since = max(FIRST, index.today - LOOKS_BACK).isoformat()
        listing = channel(index, tmp_path).listing(Wanted("torch", target_for("3.11.7"), from_=since))
        return streams.take(stream, listing, 60.0)

    def days(builds: tuple[str, ...]) -> list[str]:
        return [build.partition("dev")[2][:8] for build in builds]

    assert days(look().new) == [name(day) for day in (1, 2, 3, 5, 6, 7)]
    assert look() == Seen((), (), ())
    index.today = TODAY + timedelta(days=1)
    assert days(look().new) == [name(8)]
    index.today = TODAY + timedelta(days=2)
    index.replace(f"torch-*{name(8)}*", changes=())
    index.withdraw(f"torch-*{name(5)}*")
    seen = look()
    assert (days(seen.new), days(seen.replaced)) == ([name(9)], [name(8)])
    found = read_calendar(at.database, "torch", "nightly", FIRST, date(2026, 10, 10))
    assert [one.standing for one in found.days] == [
        *[Standing.THERE] * 3, Standing.MISSING, Standing.MISSING, *[Standing.THERE] * 4, Standing.NONE,
    ]  # fmt: skip
    eighth = found.days[7].builds[0]
    assert (eighth.replaced, eighth.variant, eighth.status) == (1, "cpu", "listed")
    stream = streams.all()[KEY]
    assert stream.newest is not None
    assert stream.newest.endswith(f"{name(9)}+cpu")
    assert stream.replaced == stream.fresh == at.hand.at


def test_sizes_that_the_listing_does_not_tell_are_asked_once(at: Scene, index: NightlyIndex, tmp_path: Path) -> None:
    asked: list[str] = []

    class Looks:
        def listing(self, _key: StreamKey) -> Listing:
            found = channel(index, tmp_path).listing(Wanted("torch", target_for("3.11.7"), from_=FIRST.isoformat()))
            return replace(found, builds=found.builds[-2:])

        def size(self, _key: StreamKey, build: Build) -> int | None:
            asked.append(build.label.partition("dev")[2][:8])
            return channel(index, tmp_path).current(build).size

    watching = Watching(Watches(at.database), Streams(at.database), Looks(), Random(1))
    at.answered(answer("✓A", channel="nightly"))
    Answers(at.database).take_in()
    for _ in range(2):
        watching.turn()
        at.hand.move(hours=1)
    assert asked == [name(6)]  # the listing has asked for the newest
    builds = [one for day in read_calendar(at.database, "toy", "nightly", FIRST, TODAY).days for one in day.builds]
    assert [one.size for one in builds] == [index.body(index.torch(date(2026, 10, day))).size for day in (6, 7)]
