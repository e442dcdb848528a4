from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.spec.reading import override
from tests.spec.specs import CHANNELS, GOOD, read_one

TEXT = GOOD + 'from: "2.11"\nrequires: [numpy]\ncases: [{name: x, args: ["1"]}]\n'


def test_the_command_line_replaces_values(tmp_path: Path) -> None:
    read = read_one(tmp_path, TEXT)
    spec = override(
        read, channels=CHANNELS, from_="2.12", to="2.15", channel="wheelhouse", device="cpu", timeout=5.0, package=None
    ).spec
    assert (spec.from_, spec.to, spec.channel, spec.device) == ("2.12", "2.15", ("wheelhouse",), ("cpu",))
    assert spec.timeout == 5
    assert spec.package == "torch"
    assert spec.cases == read.spec.cases


def test_requirements_are_added(tmp_path: Path) -> None:
    spec = override(read_one(tmp_path, TEXT), channels=CHANNELS, requires=("triton==3.4",)).spec
    assert spec.requires == ("numpy", "triton==3.4")


def test_nothing_given_leaves_the_spec_alone(tmp_path: Path) -> None:
    read = read_one(tmp_path, TEXT)
    assert override(read, channels=CHANNELS, from_=None, requires=()) is read


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        (
            {"channel": "relase"},
            '--channel: found "relase", expected `release` or `wheelhouse`; did you mean "release"?',
        ),
        ({"device": "gpu"}, '--device: found "gpu", expected `cuda` or `cpu`; did you mean "cpu"?'),
        (
            {"python": "three"},
            '--python: found "three", expected a version such as `3.12` or the path of an interpreter',
        ),
        (
            {"requires": ("x=1",)},
            '--requires: found "x=1", expected a requirement, for instance `numpy` or `numpy==2.1.0`',
        ),
        ({"timeout": 1e9}, '--timeout: found "1000000000.0", expected a number of at most 86400'),
        (
            {"package": "to rch"},
            '--package: found "to rch", expected letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
        ),
    ],
)
def test_a_mistake_names_its_flag(tmp_path: Path, changes: dict[str, object], mistake: str) -> None:
    read = read_one(tmp_path, TEXT)
    with pytest.raises(SpecError) as caught:
        override(read, channels=CHANNELS, **changes)
    assert caught.value.what == f"{read.path}: 1 mistake\n  {mistake}"
