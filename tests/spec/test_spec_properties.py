"""Whatever a spec file holds, reading it gives a spec or a `SpecError` with mistakes; never anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisect_tool.errors import SpecError
from bisect_tool.spec.model import Case, Metric, NamedFailure, Samples, Spec
from bisect_tool.spec.reading import ReadSpec, load_all
from bisect_tool.spec.repro import read_repro
from tests.spec.specs import CHANNELS, GOOD, write_spec

KEYS = [
    field.alias or name
    for model in (Spec, Case, NamedFailure, Metric, Samples)
    for name, field in model.model_fields.items()
]
WORDS = ["a", "repro.py", "release", "cpu", "control", "test", "auto", "2.11", "~", "", "..", "/", "(", "x" * 300]
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(WORDS)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)
near_specs = st.dictionaries(st.sampled_from(KEYS), values, max_size=6).map(
    lambda entries: {"name": "a", "script": "repro.py"} | entries
)
fragments = st.sampled_from(
    [
        "name: a\n",
        "script: repro.py\n",
        "- ",
        "  ",
        "&a ",
        "*a",
        "!t ",
        "[",
        "]",
        "{",
        "}",
        ": ",
        ", ",
        "|\n",
        '"',
        "#",
        "<<",
        "? ",
    ]
)


def is_read_or_refused(path: Path) -> None:
    try:
        found = load_all([path], channels=CHANNELS)
    except SpecError as error:
        head, *lines = error.what.splitlines()
        assert head.startswith(f"{path}: {len(lines)} mistake")
        assert all("found " in line and ", expected " in line for line in lines)
        assert len(set(lines)) == len(lines)
    else:
        assert [type(one) for one in found] == [ReadSpec]
        assert len(read_repro(found[0]).digest) == 64


@QUICK
@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    is_read_or_refused(write_spec(tmp_path, content))


@QUICK
@given(content=st.text(max_size=100) | st.lists(fragments, max_size=15).map("".join))
def test_any_text(tmp_path: Path, content: str) -> None:
    is_read_or_refused(write_spec(tmp_path, content.encode("utf-8", "surrogatepass")))


@QUICK
@given(structure=values | near_specs)
def test_any_structure(tmp_path: Path, structure: object) -> None:
    is_read_or_refused(write_spec(tmp_path, json.dumps(structure), name="spec.json"))


@QUICK
@given(content=st.text(max_size=60))
def test_any_plain_script(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bug.py"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    is_read_or_refused(path)


@QUICK
@given(key=st.sampled_from(["package", "from_", "to", "python", "channel", "device"]), value=st.text(max_size=20))
def test_any_flag(tmp_path: Path, key: str, value: str) -> None:
    path = write_spec(tmp_path, GOOD)
    try:
        (found,) = load_all([path], channels=CHANNELS, changes={key: value})
    except SpecError as error:
        told = f"--{key.rstrip('_')}: found " in error.what
    else:
        told = found.spec.name == "a"
    assert told


@QUICK
@given(args=st.lists(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"])), max_size=4))
def test_arguments_arrive_as_written(tmp_path: Path, args: list[str]) -> None:
    text = json.dumps({"name": "a", "script": "repro.py", "cases": [{"name": "x", "args": args}]})
    (found,) = load_all([write_spec(tmp_path, text, name="spec.json")], channels=CHANNELS)
    assert found.spec.cases[0].args == tuple(args)


@pytest.mark.parametrize("name", ["spec.yaml", "bug.py"])
def test_a_name_that_is_not_utf_8(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    is_read_or_refused(write_spec(folder, GOOD, name=name))
