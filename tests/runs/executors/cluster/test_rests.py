from __future__ import annotations

from bisect_tool.runs.executors.cluster.rests import Rests


def test_each_rest_is_twice_as_long_until_something_goes_well() -> None:
    rests, now, lengths = Rests(first=60, longest=600), 0, []
    for _ in range(6):
        rests.begin(7, now)
        began = now
        while not rests.over(now):
            now += 10
        lengths.append(now - began)
    assert lengths == [60, 120, 240, 480, 600, 600]
    rests.went_well(7)
    rests.begin(7, now)
    assert rests.over(now + 60) == (7,)


def test_each_slot_rests_for_itself_and_is_given_once() -> None:
    rests = Rests(first=60)
    rests.begin(1, 0)
    rests.begin(0, 0)
    rests.begin(2, 30)
    assert rests.over(59) == ()
    assert rests.over(60) == (0, 1)
    assert rests.over(90) == (2,)
    assert rests.over(999) == ()
