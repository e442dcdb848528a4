"""Failures that come and go, from real trials to the report."""

from __future__ import annotations

from tests.integration.conftest import Place
from tests.rig.toy import Behaviour, ToyBuild, day

ZERO = "RuntimeError: gradient is all zero"


def history(count: int, rates: dict[int, float]) -> list[ToyBuild]:
    """`count` builds; from each number of `rates` on the failure shows at that rate."""
    return [
        ToyBuild(
            f"1.{number}",
            {"main": Behaviour(ZERO, rate=[rate for first, rate in rates.items() if first <= number][-1])},
            uploaded=day(number + 1),
        )
        for number in range(count)
    ]


def test_the_build_with_which_a_failure_became_frequent(place: Place) -> None:
    place.publish(history(16, {0: 0.0, 9: 0.8}))
    answer = place.answer("run", place.spec(flaky="yes", from_="1.0"))
    (failure,) = answer["failures"]
    (study,) = failure["studies"]
    assert (study["verdict"], study["before"], study["after"]) == ("found", "1.8", "1.9")
    assert study["confidence"] >= 0.99
    assert (study["older"]["shown"], study["newer"]["shown"] / study["newer"]["trials"] > 0.4) == (0, True)
    assert sum(chance["chance"] for chance in study["chances"]) > 0.99
    assert answer["counts"]["builds_installed"] <= 9
    end = failure["episodes"][0]["appeared"]
    assert (end["last_without"], end["first_with"], end["kind"]) == ("1.8", "1.9", "exact")
    assert "confidence" in place.run("run", place.specs / "toy-spec").out


def test_no_change_that_can_be_relied_on(place: Place) -> None:
    """The rate is the same everywhere: two builds are enough to say so, and no name is given."""
    place.publish(history(12, {0: 0.5}))
    answer = place.answer("run", place.spec(flaky="yes", from_="1.0"), status=4)
    (study,) = answer["failures"][0]["studies"]
    assert study["verdict"] == "no reliable change"
    assert answer["counts"]["builds_installed"] == 2
    assert "no change that can be relied on" in answer["summary"][0]


def test_a_failure_that_is_always_there_costs_little_more(place: Place) -> None:
    place.publish(history(8, {0: 0.0, 5: 1.0}))
    spec = place.spec(flaky="no", from_="1.0")
    without = place.answer("run", spec)["counts"]
    noticed = place.answer("run", spec, "--flaky", "auto", "--fresh")["counts"]
    trusted = place.answer("run", spec, "--flaky", "auto", "--trust", "--fresh")["counts"]
    assert without["trials"] < noticed["trials"] <= without["trials"] + 16
    assert trusted["trials"] < without["trials"]
