from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import load_all
from tests.spec.specs import CHANNELS, GOOD, read_one, write_spec

TEXT = GOOD + 'from: "2.11"\nrequires: [numpy]\ncases: [{name: x, args: ["1"]}]\n'


def changed(folder: Path, text: str = TEXT, /, **changes: object) -> Spec:
    (found,) = load_all([write_spec(folder, text)], channels=CHANNELS, changes=changes)
    return found.spec


def test_the_command_line_replaces_values(tmp_path: Path) -> None:
    spec = changed(tmp_path, from_="2.12", to="2.15", channel="wheelhouse", device="cpu", timeout=5.0, package=None)
    assert (spec.from_, spec.to, spec.channel, spec.device) == ("2.12", "2.15", ("wheelhouse",), ("cpu",))
    assert spec.timeout == 5
    assert spec.package == "torch"
    assert spec.cases == read_one(tmp_path, TEXT).spec.cases


def test_requirements_are_added(tmp_path: Path) -> None:
    spec = changed(tmp_path, requires=("triton==3.4",))
    assert spec.requires == ("numpy", "triton==3.4")


def test_what_is_taken_of_a_base_is_replaced(tmp_path: Path) -> None:
    spec = changed(tmp_path, GOOD + "base: system\nas_is: numpy\n", as_is=("nvidia-*", "cuda-*"))
    assert (spec.base, spec.as_is) == ("system", ("nvidia-*", "cuda-*"))
    assert changed(tmp_path, base="system", as_is=("nvidia-*",)).as_is == ("nvidia-*",)
    with pytest.raises(SpecError, match="--as-is: found `as_is` without a base"):
        changed(tmp_path, as_is=("nvidia-*",))


def test_nothing_given_leaves_the_spec_alone(tmp_path: Path) -> None:
    assert changed(tmp_path, from_=None, requires=()) == read_one(tmp_path, TEXT).spec


def test_a_value_that_is_replaced_is_no_mistake(tmp_path: Path) -> None:
    spec = changed(tmp_path, GOOD + "channel: commit\ndevice: gpu\n", channel="release", device="cpu")
    assert (spec.channel, spec.device) == (("release",), ("cpu",))


def test_each_requirement_is_blamed_on_its_own_place(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        changed(tmp_path, GOOD + "requires: [a=1]\n", requires=("b=2",))
    first, second = caught.value.what.splitlines()[1:]
    assert first.startswith('  line 3, requires[0]: found "a=1"')
    assert second.startswith('  --requires: found "b=2"')


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        (
            {"channel": "relase"},
            '--channel: found "relase", expected `commit`, `nightly`, `release` or `wheelhouse`; did you mean "release"?',
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
    with pytest.raises(SpecError) as caught:
        changed(tmp_path, TEXT, **changes)
    assert caught.value.what == f"{tmp_path / 'spec.yaml'}: 1 mistake\n  {mistake}"
