"""Real wheels from the package index, and real bugs whose history is known from having been measured by hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLICK = """
import click
from click.testing import CliRunner

@click.command()
@click.option("--flag", type=str, is_flag=True)
def command(flag):
    click.echo(repr(flag))

told = CliRunner().invoke(command, ["--flag"]).output.strip()
assert told in ("True", "'True'"), f"a flag of type str gives {told}"
"""
NETWORKX = """
import warnings
import networkx as nx

warnings.simplefilter("error")
lengths = sorted(nx.single_target_shortest_path_length(nx.path_graph(4), 3))
assert lengths == [(0, 3), (1, 2), (2, 1), (3, 0)], lengths
"""


def bisect(tmp_path: Path, *words: str, status: int = 0) -> dict[str, Any]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("BISECT_")}
    done = subprocess.run(
        [sys.executable, "-m", "bisect_tool", "run", *words, "--json", str(tmp_path / "answer.json"), "--quiet"],
        capture_output=True, text=True, timeout=1500, cwd=ROOT, check=False,
        env={**environ, "BISECT_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == status, done.stderr + done.stdout
    return dict(json.loads((tmp_path / "answer.json").read_text()))


def spec(tmp_path: Path, script: str, **keys: object) -> str:
    (tmp_path / "repro.py").write_text(script)
    given = {
        "name": "real",
        "device": "cpu",
        "script": "repro.py",
        **{key.rstrip("_"): value for key, value in keys.items()},
    }
    (tmp_path / "spec.yaml").write_text(json.dumps(given))
    return str(tmp_path / "spec.yaml")


def ends(failure: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    return [
        end
        for episode in failure["episodes"]
        for end in (
            (episode["appeared"]["kind"], episode["appeared"]["last_without"], episode["appeared"]["first_with"]),
            (episode["fixed"]["kind"], episode["fixed"]["last_with"], episode["fixed"]["first_without"]),
        )
    ]


@pytest.mark.network
def test_a_bug_of_a_single_click_release_is_found_between_ends_that_agree(tmp_path: Path) -> None:
    answer = bisect(tmp_path, spec(tmp_path, CLICK, package="click", from_="8.1.4", to="8.2.1"))
    assert len(answer["failures"]) == 1
    assert ends(answer["failures"][0]) == [("exact", "8.1.8", "8.2.0"), ("exact", "8.2.0", "8.2.1")]


@pytest.mark.network
def test_a_warning_that_becomes_another_and_then_a_change_of_type(tmp_path: Path) -> None:
    answer = bisect(tmp_path, spec(tmp_path, NETWORKX, package="networkx", from_="3.0", to="3.5"))
    steps = {
        (one["appeared"]["last_without"], one["appeared"]["first_with"])
        for f in answer["failures"]
        for one in f["episodes"]
    }
    assert steps == {("3.0", "3.1"), ("3.2.1", "3.3"), ("3.4.2", "3.5")}
    first, second, _ = answer["failures"]
    assert first["episodes"][0]["fixed"]["changed_into"] == [second["id"]]


@pytest.mark.network
@pytest.mark.torch
@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor on the CPU needs a C++ compiler")
def test_the_zero_gradient_of_torch_was_fixed_in_2_13(tmp_path: Path) -> None:
    path = str(ROOT / "repro_specs" / "diagonal-scatter-grad" / "spec.yaml")
    try:
        answer = bisect(tmp_path, path, "--device", "cpu", "--from", "2.12.1", "--to", "2.13", "--verify", "1")
    finally:
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)  # 8 GB
    (failure,) = answer["failures"]
    assert failure["name"] == "zero-gradient"
    assert ends(failure) == [("open", None, "2.12.1"), ("exact", "2.12.1", "2.13.0")]
    assert answer["boundaries"][0]["revision_after"] == "cf30153c4c131c8164ee7798e5022d810682e2cb"
