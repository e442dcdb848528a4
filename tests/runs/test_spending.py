from __future__ import annotations

import pytest

from bisect_tool.environments.environment import Checking, Making, Step, Waiting
from bisect_tool.environments.uv import Download
from bisect_tool.runs.spending import Activity, Stretch, Work, spent

RUN, IMPORT, UNPACK, DOWNLOAD, WAIT = Activity


def made(*steps: tuple[float, Step], end: float, ahead: bool = False) -> tuple[Work, list[Stretch]]:
    work = Work(is_ahead=ahead)
    found = [stretch for at, step in steps for stretch in work.take(step, at)]
    return work, [*found, *work.end(end)]


def after(*steps: Step) -> Work:
    work = Work()
    for at, step in enumerate(steps):
        list(work.take(step, at))
    return work


def test_an_environment_is_downloaded_unpacked_and_imported() -> None:
    work, found = made(
        (0, Making()),
        (1, Download("torch", 500, done=False)),
        (3, Download("triton", 100, done=False)),
        (8, Download("triton", 100, done=True)),
        (11, Download("torch", 500, done=True)),
        (20, Checking()),
        end=25,
    )
    assert [(one.activity, one.start, one.end) for one in found] == [
        (UNPACK, 0, 1), (DOWNLOAD, 1, 11), (UNPACK, 11, 20), (IMPORT, 20, 25)
    ]  # fmt: skip
    assert (work.fetched, work.fetching) == (600, 10)


def test_of_a_download_that_was_broken_off_the_bytes_that_came_now_count() -> None:
    steps = [
        Download("torch", 500, done=False),
        *(Download("torch", 500, done=False, here=here) for here in (120, 300)),
    ]
    work, found = made((0, Making()), *((1, step) for step in steps), end=9)
    assert (work.fetched, work.broken_off) == (0, 180)  # 120 lay here from before
    assert [(one.activity, one.end - one.start) for one in found] == [(UNPACK, 1), (DOWNLOAD, 8)]


def test_while_a_slot_waits_what_is_made_ahead_counts() -> None:
    waited = made((3, Waiting()), end=9)[1]
    ahead = made((0, Making()), (5, Checking()), end=8, ahead=True)[1]
    found = spent([*waited, *ahead], 0, 9)
    assert (found.by[UNPACK], found.by[IMPORT], found.by[WAIT], found.own) == (2, 3, 1, 3)
    assert found.overlapped == 3


def test_it_is_here_when_every_byte_has_come_or_it_is_being_proven() -> None:
    first, second = Download("torch", 500, done=False), Download("triton", 100, done=False)
    ends = [Download("torch", 500, done=True), Download("triton", 100, done=True)]
    found = [after(*steps) for steps in (
        [Making()], [first, second], [first, second, ends[0]], [first, second, *ends], [Making(), Checking()]
    )]  # fmt: skip
    assert [(one.is_here, one.is_proven_now) for one in found] == [
        (False, False), (False, False), (False, False), (True, False), (True, True)
    ]  # fmt: skip


def test_each_moment_counts_once_and_what_runs_beside_is_overlapped() -> None:
    stretches = [
        Stretch(DOWNLOAD, 0, 4), Stretch(RUN, 4, 10), Stretch(UNPACK, 8, 12),
        Stretch(DOWNLOAD, 5, 9, is_ahead=True),
    ]  # fmt: skip
    found = spent(stretches, 0, 15)
    assert (found.by[DOWNLOAD], found.by[RUN], found.by[UNPACK], found.by[IMPORT]) == (4, 6, 2, 0)
    assert found.own == 3
    assert found.overlapped == 2 + 4
    assert found.total == pytest.approx(15)


def test_two_slots_that_run_at_once_halve_the_time() -> None:
    found = spent([Stretch(RUN, 0, 10), Stretch(RUN, 0, 10)], 0, 10)
    assert (found.by[RUN], found.own, found.overlapped) == (10, 0, 10)
