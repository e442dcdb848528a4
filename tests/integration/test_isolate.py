"""`--isolate`: which part of two neighbouring builds makes the change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.integration.conftest import Place
from tests.integration.test_thin_builds import FIRST, tell
from tests.rig.nightly_index import NightlyIndex, NightlyPlan
from tests.rig.toy import ToyBuild, day, toy_package

ZERO = "RuntimeError: gradient is all zero"
LIBRARY = "torch/lib/libtorch_planted.so"
SCRIPT = f"""\
import os, torch
from torch import lowering
with open(os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), {LIBRARY!r})) as library:
    assert library.read() == "good", "the kernel is wrong"
lowering.run()
"""


def shown(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    (isolation,) = report["isolation"]
    return {(test["base"], test["part"]): test["shows"] for test in isolation["tests"]}


def publish(place: Place, behaviour: dict[str, str], part_behaviour: dict[str, str]) -> Path:
    """toy 1.0 and 1.1; the second needs the second version of another package."""
    toy_package(place.index.folder, "part", [
        ToyBuild("1.0", uploaded=day(1)), ToyBuild("2.0", part_behaviour, uploaded=day(1)),
    ])  # fmt: skip
    place.publish([
        ToyBuild("1.0", uploaded=day(2), requires=("part==1.0",)),
        ToyBuild("1.1", behaviour, uploaded=day(3), requires=("part==2.0",)),
    ])  # fmt: skip
    script = "import toy, part\npart.run('main')\ntoy.run('main')\n"
    return place.spec(from_="1.0", to="1.1", script=script)


def test_a_change_of_another_package(place: Place) -> None:
    report = place.answer("run", publish(place, {}, {"main": ZERO}), "--isolate", "--verify", "0")
    assert shown(report) == {("1.1", "other packages"): "before", ("1.0", "other packages"): "after"}
    assert report["isolation"][0]["part"] == "other packages"
    assert "The change of repro between 1.0 and 1.1 is made by another package: part." in report["summary"]


def test_a_change_of_the_package_itself(place: Place) -> None:
    report = place.answer("run", publish(place, {"main": ZERO}, {}), "--isolate", "--verify", "0")
    assert shown(report) == {("1.1", "other packages"): "after", ("1.0", "other packages"): "before"}
    assert "The change of repro between 1.0 and 1.1 is in toy itself." in report["summary"]


def nights(place: Place, tmp_path: Path, second: dict[str, str]) -> dict[str, Any]:
    """Two nights of torch with a library; the second one has `second` in place of its files."""
    story = tell(tmp_path / "pytorch.git", [[{"README.md": "1"}], [{"README.md": "2"}]])
    days = sorted(story.files)
    good = {**story.files[days[0]], LIBRARY: "good"}
    files = {days[0]: good, days[1]: {**good, **second}}
    plan = NightlyPlan(first=FIRST, last=days[1], cuts=story.cuts, files=files, bare=True)
    with NightlyIndex(plan) as index:
        index.today = days[1]
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
        spec = place.spec(package="torch", channel="nightly", script=SCRIPT, variant="cpu")
        return place.answer("run", spec, "--repo", story.folder, "--isolate", "--verify", "0")


def test_a_change_of_binaries(place: Place, tmp_path: Path) -> None:
    report = nights(place, tmp_path, {LIBRARY: "bad"})
    assert set(shown(report).values()) == {"before", "after"}
    assert report["isolation"][0]["part"] == "binaries"


def test_a_change_of_python_files(place: Place, tmp_path: Path) -> None:
    broken = {"torch/lowering.py": "def run():\n    raise RuntimeError('gradient is all zero')\n"}
    report = nights(place, tmp_path, broken)
    assert report["isolation"][0]["part"] == "Python files"
    assert report["summary"][-1].endswith("is in the Python files of torch.")
