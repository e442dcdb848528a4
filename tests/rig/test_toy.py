from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.rig.toy import Behaviour, Planted, ToyBuild, day, toy_modules, toy_package, toy_script


def acted(folder: Path, planted: Planted, **variables: str) -> subprocess.CompletedProcess[str]:
    for path, text in toy_modules(ToyBuild("1.0", {"main": planted}), "toy").items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    script = toy_script(folder)
    return subprocess.run(
        [sys.executable, script],
        env={**os.environ, "BISECT_CHECKS": str(folder / "checks"), **variables},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize(
    ("planted", "status", "output"),
    [
        ("pass", 0, "fine with 1.0\n"),
        ("exit 125", 125, ""),
        ("SIGKILL", -9, ""),
        (["print one", "print two", "exit 3"], 3, "one\ntwo\n"),
        (["sleep 0.01", "memory 20"], 0, "fine with 1.0\n"),
    ],
)
def test_a_toy_acts_what_was_planted(tmp_path: Path, planted: Planted, status: int, output: str) -> None:
    seen = acted(tmp_path, planted)
    assert (seen.returncode, seen.stdout) == (status, output)


def test_an_exception_comes_from_the_named_function(tmp_path: Path) -> None:
    seen = acted(tmp_path, Behaviour("ValueError: bad: shape", within="lower"))
    assert seen.stderr.splitlines()[-1] == "ValueError: bad: shape"
    assert ", in lower\n" in seen.stderr


def test_checks_and_values_are_reported(tmp_path: Path) -> None:
    acted(tmp_path, ["check ok grad", "check failed loss: is nan", "value latency 1.5"])
    assert [json.loads(line) for line in (tmp_path / "checks").read_text().splitlines()] == [
        {"check": "grad", "ok": True, "message": ""},
        {"check": "loss", "ok": False, "message": "is nan"},
        {"check": "latency", "value": 1.5},
    ]


def test_a_flaky_toy_fails_now_and_then(tmp_path: Path) -> None:
    seen = Counter(acted(tmp_path, Behaviour("exit 7", rate=0.5)).returncode for _ in range(24))
    assert set(seen) == {0, 7}  # wrong once in eight million runs


def test_a_behaviour_can_wait_for_a_variable(tmp_path: Path) -> None:
    planted = Behaviour("exit 9", when=("TOY_MODE", "fast"))
    assert acted(tmp_path, planted, TOY_MODE="slow").returncode == 0
    assert acted(tmp_path, planted, TOY_MODE="fast").returncode == 9


def test_a_package_is_imported_by_the_first_part_of_its_name(tmp_path: Path) -> None:
    (wheel,) = toy_package(tmp_path, "toy-nightly", [ToyBuild("1.0.dev20260301", uploaded=day(60))])
    assert wheel.name == "toy_nightly-1.0.dev20260301-py3-none-any.whl"
    probe = [sys.executable, "-c", "import toy; print(toy.__version__)"]
    seen = subprocess.run(probe, env={"PYTHONPATH": str(wheel)}, capture_output=True, text=True, check=True)
    assert seen.stdout == "1.0.dev20260301\n"
