from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from bisect_tool.spec.reading import load_all
from bisect_tool.spec.schema import json_schema
from tests.spec.specs import write_spec

ROOT = Path(__file__).parent.parent.parent
SPECS = sorted((ROOT / "repro_specs").glob("*/spec.yaml"))
EXAMPLE = """\
name: diagonal-scatter-grad
title: Inductor returns an all-zero gradient for diagonal_scatter(...).sum()
issue: https://github.com/pytorch/pytorch/issues/1
package: torch
channel: nightly
variant: auto
from: 2026-03-01
to: 2026-05-20
device: [cuda, cpu]
python: "3.11"
requires: [numpy]
script: repro.py
timeout: 300
cases:
  - {name: eager,     args: [--backend, eager],     role: control}
  - {name: aot_eager, args: [--backend, aot_eager], role: control}
  - {name: inductor,  args: [--backend, inductor]}
failures:
  - {name: zero-grad, match: "gradient is all zero"}
"""
GOOD: dict[str, Any] = {"name": "a", "script": "repro.py"}


def complaints(content: object) -> list[str]:
    return [error.message for error in Draft202012Validator(json_schema()).iter_errors(content)]


def editor_reads(text: str) -> Any:
    """As an editor does: what looks like a date stays text."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return yaml.load(text, Loader)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_all_specs_are_looked_at() -> None:
    assert len(SPECS) == 29


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_the_specs_of_this_repository_fit(path: Path) -> None:
    assert complaints(yaml.safe_load(path.read_text())) == []
    assert load_all([path], channels=("release", "wheelhouse"))[0].spec.name == path.parent.name


def test_the_example_of_the_product_fits() -> None:
    assert complaints(editor_reads(EXAMPLE)) == []


def test_its_own_examples_fit() -> None:
    (example,) = json_schema()["examples"]
    assert complaints(example) == []


@pytest.mark.parametrize(
    "more",
    [
        {"from": 2.11},
        {"channel": "release"},
        {"channel": ["release"]},
        {"device": "cpu"},
        {"to": None},
        {"cases": [{"name": "x", "args": [8193, 1.5, True]}]},
        {"env": {"A": 1}},
        {"metrics": [{"name": "t", "ratio": 1.1, "reference": 2.11, "trials": {"least": 6}, "floor": 1e-6}]},
    ],
)
def test_what_the_reader_takes_fits(tmp_path: Path, more: dict[str, Any]) -> None:
    assert complaints(GOOD | more) == []
    path = write_spec(tmp_path, json.dumps(GOOD | more), name="spec.json")
    assert load_all([path], channels=("release", "wheelhouse"))[0].spec.name == "a"


@pytest.mark.parametrize(
    "content",
    [
        {"name": "a"},
        {"script": "repro.py"},
        GOOD | {"command": "python repro.py"},
        GOOD | {"chanel": "release"},
        GOOD | {"name": "a b"},
        GOOD | {"device": "gpu"},
        GOOD | {"device": []},
        GOOD | {"channel": []},
        GOOD | {"timeout": 0},
        GOOD | {"timeout": "soon"},
        GOOD | {"cases": []},
        GOOD | {"cases": [{"args": ["x"]}]},
        GOOD | {"cases": [{"name": "x", "role": "contol"}]},
        GOOD | {"cases": [{"name": "x", "env": ["A"]}]},
        GOOD | {"failures": [{"name": "x", "match": ""}]},
        GOOD | {"requires": "numpy"},
        GOOD | {"metrics": {}},
        GOOD | {"metrics": [{"name": "t"}]},
        GOOD | {"metrics": [{"name": "t", "ratio": 1.1, "trials": {"least": 1}}]},
        [GOOD],
        "a",
    ],
)
def test_mistakes_do_not_fit(content: object) -> None:
    assert complaints(content)


@pytest.mark.parametrize("key", ["channel", "device", "command", "as_is", "hold", "look_at"])
def test_what_is_one_word_or_several_may_be_either(key: str) -> None:
    word = {"device": "cpu", "command": "python a.py"}.get(key, "2.11")
    base = {"name": "a"} if key == "command" else GOOD
    assert complaints({**base, key: word}) == []
    assert complaints({**base, key: [word]}) == []
