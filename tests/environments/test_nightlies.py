"""Environments of nightlies, made by real uv from the rig of nightlies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from bisect_tool.builds.build import Build
from bisect_tool.builds.channels.nightly import NightlyChannel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.environment import BuildUnusable, Environment, EnvironmentKey
from bisect_tool.errors import DownloadFailed
from tests.builds.nightly.conftest import channel, wanted
from tests.environments.conftest import Bench
from tests.rig import index_faults as faults
from tests.rig.index_state import RequestKind
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan
from tests.rig.wheel_maker import WheelFault, make_wheel

PLAN = NightlyPlan(
    first=date(2024, 2, 1),
    last=date(2026, 10, 9),
    variants=("cu118", "cu126", "cpu"),
    pythons=("cp311",),
    vision=True,
    changes=(Change("grad", date(2026, 6, 3), "RuntimeError: gradient is all zero"),),
    broken={date(2026, 5, 5): {WheelFault.NOT_A_ZIP}, date(2026, 5, 6): {WheelFault.OTHER_VERSION_INSIDE}},
)


@pytest.fixture
def nightlies() -> Iterator[NightlyIndex]:
    with NightlyIndex(PLAN) as index:
        yield index


class Stand:
    """Makes environments of nightlies on a bench."""

    def __init__(self, bench: Bench, index: NightlyIndex) -> None:
        self.bench = bench
        self.channel: NightlyChannel = channel(index, bench.cache.pages)

    def build(self, day: str, variant: str = "cu126") -> Build:
        return self.channel.listing(wanted(day, day, variant=variant)).builds[0]

    def make(self, build: Build, *requires: str, as_of: datetime | None = None) -> Environment:
        key = EnvironmentKey(build, self.bench.interpreter, requires)
        with self.bench.use(
            key, as_of=as_of, install=lambda: self.channel.installation(build, requires)
        ) as environment:
            return environment


@pytest.fixture
def stand(bench: Bench, nightlies: NightlyIndex) -> Stand:
    assert target_for(bench.interpreter.version).tags[0].interpreter == "cp311"
    return Stand(bench, nightlies)


def test_a_hidden_nightly_with_everything_as_of_its_date(stand: Stand) -> None:
    build = stand.build("2025-03-03")
    environment = stand.make(build, as_of=build.date)
    packages = environment.health.packages
    assert packages["torch"] == "2.7.0.dev20250303+cu126"
    assert packages["pytorch-triton"].startswith("3.3.0+git")
    assert (packages["filelock"], packages["sympy"], packages["networkx"]) == ("3.9.0", "1.13.3", "3.4.2")
    assert environment.health.revision == PLAN.cut(date(2025, 3, 3)).nightly


def test_torchvision_does_not_replace_torch(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20")
    environment = stand.make(build, "torchvision", "numpy", as_of=build.date)
    packages = environment.health.packages
    assert packages["torch"] == build.version
    assert packages["torchvision"] == "0.28.0.dev20260620+cu126"
    assert packages["triton"] == "3.7.1+git5d6048aa"
    assert nightlies.requests.count(RequestKind.FILE, "torch-*20260619*", method="GET") == 0


def test_torchvision_itself_under_test_gets_the_torch_that_it_pins(stand: Stand) -> None:
    asked = wanted("2026-06-20", "2026-06-20", variant="cu126")
    build = stand.channel.listing(replace(asked, package="torchvision")).builds[0]
    packages = stand.make(build, as_of=build.date).health.packages
    assert (packages["torchvision"], packages["torch"]) == (build.version, "2.14.0.dev20260619+cu126")
    assert packages["triton"].startswith("3.7.1+git")


def test_without_a_torchvision_of_its_time_a_build_cannot_be_used(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20")
    nightlies.withdraw("torchvision-*")
    released = datetime(2019, 6, 1, tzinfo=UTC)  # a release that takes any torch, as there was one
    make_wheel(nightlies.default.folder, "torchvision", "0.2.2", modules={}, requires=["torch"], uploaded=released)
    with pytest.raises(BuildUnusable, match=r"no version of torchvision==0\.29\.0\.dev20260620\+cu126"):
        stand.make(build, "torchvision", as_of=build.date)


def test_an_old_build_gets_numpy_1_also_from_an_index_without_times(stand: Stand) -> None:
    assert stand.make(stand.build("2024-02-20", "cpu"), "numpy").health.packages["numpy"] == "1.26.4"


def test_a_numpy_that_the_spec_pins_is_meant(stand: Stand) -> None:
    assert stand.make(stand.build("2024-02-20", "cpu"), "numpy==2.0.0").health.packages["numpy"] == "2.0.0"


def test_a_triton_that_the_spec_pins_is_meant(stand: Stand) -> None:
    build = stand.build("2026-06-20")
    packages = stand.make(build, "triton==3.6.0", as_of=build.date).health.packages
    assert (packages["torch"], packages["triton"]) == (build.version, "3.6.0")


def test_a_triton_that_is_nowhere_makes_the_build_unusable_and_brings_no_other(
    stand: Stand, nightlies: NightlyIndex
) -> None:
    nightlies.withdraw("triton-*")
    build = stand.build("2026-06-20")
    with pytest.raises(
        BuildUnusable, match=r"its requirements cannot be met: .* no version of triton.*==3\.7\.1\+git5d6048aa"
    ):
        stand.make(build, as_of=build.date)


def test_a_file_that_was_replaced_is_fetched_again(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20")
    before = stand.make(build)
    other = PLAN.cut(date(2026, 6, 21))
    nightlies.replace("torch-*20260620+cu126*", cut=other)
    after = stand.make(stand.channel.current(build))
    assert before.health.revision == PLAN.cut(date(2026, 6, 20)).nightly
    assert after.health.revision == other.nightly


def test_a_file_that_stayed_the_same_is_not_fetched_again(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20")
    stand.make(build)
    nightlies.requests.clear()
    stand.make(build, "numpy")
    assert nightlies.requests.count(RequestKind.FILE, "torch-*", method="GET") == 0


@pytest.mark.parametrize("day", ["2026-05-05", "2026-05-06"])
def test_a_nightly_that_was_published_broken(stand: Stand, day: str) -> None:
    with pytest.raises(BuildUnusable, match=r"its wheel is damaged|does not match"):
        stand.make(stand.build(day, "cpu"))


def test_a_nightly_that_went_away(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20", "cpu")
    nightlies.withdraw("torch-*20260620*")
    with pytest.raises(BuildUnusable, match="does not have it"):
        stand.make(build)


def test_a_login_page_instead_of_the_wheel_is_no_fault_of_the_build(stand: Stand, nightlies: NightlyIndex) -> None:
    build = stand.build("2026-06-20", "cpu")
    nightlies.faults.add("torch-*20260620*", faults.replaced(b"<html>log in</html>"))
    with pytest.raises(DownloadFailed):
        stand.make(build)
