"""Failures that come and go, from real trials to the report."""

from __future__ import annotations

from pathlib import Path

from tests.integration.conftest import Place, history

# Which trials of a build fail is the same in every run of these tests: the first of each five, the first two, and so on.
SCRIPT = """import os, toy
from pathlib import Path

FAILING = {failing}
number = int(toy.__version__.partition(".")[2])
counter = Path(os.environ["COUNTER"]) / toy.__version__
count = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(count + 1))
of_five = [many for first, many in FAILING.items() if first <= number][-1]
if (count * 3 + number) % 5 < of_five:
    raise RuntimeError("gradient is all zero")
"""


def flaky_spec(place: Place, count: int, failing: dict[int, int], **keys: str) -> Path:
    """`count` builds; from each number of `failing` on so many of five trials fail."""
    place.publish(history(count, {}))
    (place.root / "counts").mkdir()
    env = {"COUNTER": str(place.root / "counts")}
    return place.spec(script=SCRIPT.format(failing=failing), env=env, from_="1.0", **keys)


def test_the_build_with_which_a_failure_became_frequent(place: Place) -> None:
    answer = place.answer("run", flaky_spec(place, 16, {0: 0, 9: 4}, flaky="yes"))
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
    answer = place.answer("run", flaky_spec(place, 12, {0: 2}, flaky="yes"), status=4)
    (study,) = answer["failures"][0]["studies"]
    assert study["verdict"] == "no reliable change"
    assert answer["counts"]["builds_installed"] == 2
    assert "no change that can be relied on" in answer["summary"][0]


def test_a_failure_that_is_always_there_costs_little_more(place: Place) -> None:
    spec = flaky_spec(place, 8, {0: 0, 5: 5}, flaky="no")
    without = place.answer("run", spec)["counts"]
    noticed = place.answer("run", spec, "--flaky", "auto", "--fresh")["counts"]
    believed = place.answer("run", spec, "--flaky", "auto", "--trust", "--fresh")
    assert without["trials"] < noticed["trials"] <= without["trials"] + 16
    assert believed["counts"]["trials"] < without["trials"]
    appeared = believed["failures"][0]["episodes"][0]["appeared"]
    assert (appeared["kind"], appeared["verified"]) == ("exact", False)  # nothing was run again
