"""What a spec holds, and what it takes of the base as it is: installed all the same, and said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.environments.environment import BuildUnusable, Environment, EnvironmentKey
from bisect_tool.environments.holding import INSTEAD, Standing, held_requirements, pinned_by, taken, unmet
from bisect_tool.environments.interpreter import find_interpreter
from bisect_tool.errors import RequirementsUnmet
from tests.environments.conftest import Bench
from tests.rig.toy import ToyBuild, day
from tests.rig.wheel_maker import make_wheel


def test_one_torch_beside_builds_of_triton_is_held() -> None:
    assert held_requirements("triton", ("torch==2.14.1", "numpy"), ()) == ("torch==2.14.1",)
    assert held_requirements("pytorch-triton", ("torch @ https://example.org/torch.whl",), ("numpy==2",)) == (
        "numpy==2",
        "torch @ https://example.org/torch.whl",
    )
    assert held_requirements("triton", ("torch>=2",), ()) == ()
    assert held_requirements("numpy", ("torch==2.14.1",), ()) == ()


def test_a_bare_name_is_taken_as_the_build_asks_for_it() -> None:
    lines = ["Triton~=3.9.0; python_version < '3.99'", "nvidia-nccl-cu13==2.30.7", "gone==1; python_version < '3'"]
    assert pinned_by(lines, "triton", "3.12.3") == "Triton~=3.9.0"
    assert pinned_by(lines, "nvidia_nccl_cu13", "3.12.3") == "nvidia-nccl-cu13==2.30.7"
    assert pinned_by(lines, "gone", "3.12.3") == "gone"
    assert pinned_by(lines, "gone", "2.7.18") == "gone==1"


def test_patterns_of_names_do_not_care_how_they_are_spelled() -> None:
    standing = Standing(base_system=True, as_is=("nvidia_*", "Triton"))
    assert standing.takes("nvidia-cudnn-cu13")
    assert standing.takes("triton")
    assert not standing.takes("numpy")


def test_what_is_unmet_is_told_with_what_is_there() -> None:
    found = list(
        unmet(["nvidia-cudnn-cu13==9.20", "numpy>=2", "gone"], {"nvidia-cudnn-cu13": "9.19", "numpy": "2.1"}, "3.12.3")
    )
    assert [taken(need, have) for need, have in found] == [
        "nvidia-cudnn-cu13 9.19 is taken as it is, instead of nvidia-cudnn-cu13==9.20",
        "gone (which is not there) is taken as it is, instead of gone",
    ]


def test_a_pin_of_what_is_held_gives_way_to_the_build(bench: Bench) -> None:
    """As torch, which asks for exactly one triton."""
    bench.publish("toy", ToyBuild("2.0", uploaded=day(1)), ToyBuild("2.1", uploaded=day(40)))
    bench.publish("frame", ToyBuild("9.0", requires=("toy==2.1", "late"), uploaded=day(50)))
    bench.publish("late", ToyBuild("1.0", uploaded=day(300)))
    build = bench.build(version="2.0")
    with pytest.raises(BuildUnusable, match="requirements cannot be met"):
        bench.make(bench.key(build, requires=("frame==9.0",)), as_of=build.date)
    environment = bench.make(replace(bench.key(build), hold=("frame==9.0",)), as_of=build.date)
    assert environment.health.packages == {"toy": "2.0", "frame": "9.0", "late": "1.0"}
    assert environment.health.facts[INSTEAD] == ["frame 9.0 asks for toy==2.1, which gave way"]


def test_a_pin_of_the_build_gives_way_to_what_is_held(bench: Bench) -> None:
    bench.publish("frame", ToyBuild("9.0", requires=("toy==1.1",)))
    bench.publish("toy", ToyBuild("1.2"))
    environment = bench.make(replace(bench.key(bench.build("frame", "9.0")), hold=("toy==1.0",)))
    assert environment.health.packages == {"toy": "1.0", "frame": "9.0"}
    assert environment.health.facts[INSTEAD] == ["frame 9.0 asks for toy==1.1, which gave way"]


def test_nothing_is_said_where_nothing_gave_way(bench: Bench) -> None:
    bench.publish("frame", ToyBuild("9.0", requires=("toy>=1",)))
    environment = bench.make(replace(bench.key(bench.build("frame", "9.0")), hold=("toy==1.0",)))
    assert INSTEAD not in environment.health.facts


def _on_a_base(
    bench: Bench, version: str, *, requires: tuple[str, ...] = (), as_is: tuple[str, ...] = ()
) -> Environment:
    """A build of the folder `house`, without any index, over a virtual environment with frame 1.0 and toy 0.1."""
    base, house = bench.root / "base", bench.root / "house"
    if not base.exists():
        bench.uv.call("venv", "--python", str(bench.interpreter.path), str(base))
        for name, number in (("frame", "1.0"), ("toy", "0.1")):
            path = make_wheel(bench.root / "of-base", name, number, modules={f"{name}.py": f"version = {number!r}\n"})
            bench.uv.call("pip", "install", "--python", str(base), "--no-index", str(path))
    channel = open_channel("wheelhouse", Access(wheelhouse=house))
    build = bench.build(version=version, channel=channel)
    interpreter = find_interpreter(str(base), bench.uv, keep_environment=True)
    key = EnvironmentKey(build, interpreter, requires, base_system=True, as_is=as_is)
    with bench.use(key, install=lambda: channel.installation(build)) as environment:
        return environment


def _house(folder: Path) -> None:
    for version, needs in (("2.0", ["frame==1.0"]), ("2.1", ["frame==1.1", "extra==3"]), ("2.2", ["frame==1.2"])):
        make_wheel(folder, "toy", version, modules={"toy.py": f"version = {version!r}\n"}, requires=needs)
    for version in ("1.1", "1.3"):
        make_wheel(folder, "frame", version, modules={"frame.py": f"version = {version!r}\n"})


def test_a_base_that_does_not_fit_is_taken_only_when_the_spec_says_so(bench: Bench) -> None:
    _house(bench.root / "house")
    assert INSTEAD not in _on_a_base(bench, "2.0").health.facts
    with pytest.raises(BuildUnusable, match=r"needs frame==1.1, and the base interpreter has 1.0"):
        _on_a_base(bench, "2.1")
    with pytest.raises(BuildUnusable, match="needs extra, which the base interpreter does not have"):
        _on_a_base(bench, "2.1", as_is=("fr*",))
    environment = _on_a_base(bench, "2.1", as_is=("fr*", "extra"))
    assert (environment.health.version, environment.health.packages["frame"]) == ("2.1", "1.0")
    assert environment.health.facts[INSTEAD] == [
        "frame 1.0 is taken as it is, instead of frame==1.1",
        "extra (which is not there) is taken as it is, instead of extra==3",
    ]
    assert bench.index.log.count() == 0


def test_a_bare_requirement_goes_over_the_base_as_the_build_pins_it(bench: Bench) -> None:
    _house(bench.root / "house")
    environment = _on_a_base(bench, "2.1", requires=("frame",), as_is=("extra",))
    assert environment.health.packages["frame"] == "1.1"
    with pytest.raises(BuildUnusable, match=r"what it asks for cannot be had, frame==1.2"):
        _on_a_base(bench, "2.2", requires=("frame",))
    with pytest.raises(RequirementsUnmet):
        _on_a_base(bench, "2.0", requires=("nowhere",))
