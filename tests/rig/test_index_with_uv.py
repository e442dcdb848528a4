"""The index, the wheels and the toy are real enough for real uv."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.rig import index_faults as faults
from tests.rig.index import RequestKind, serve
from tests.rig.provoking.stage import Stage
from tests.rig.toy import Behaviour, ToyBuild, day, toy_package

HISTORY = [
    ToyBuild("1.0", uploaded=day(1), revision="aaa111"),
    ToyBuild("1.1", {"grad": "RuntimeError: gradient is zero"}, uploaded=day(2)),
    ToyBuild("1.2", {"grad": "SIGSEGV"}, uploaded=day(3), yanked="crashes"),
    ToyBuild("1.3", {"grad": Behaviour("toy.errors.Wrapper: failed", cause="KeyError: x")}, uploaded=day(4)),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    root = tmp_path_factory.mktemp("stage")
    toy_package(root / "wheels", "toy", HISTORY)
    with serve(root / "wheels") as index:
        made = Stage(root, index)
        assert made.venv().status == 0
        yield made


def run(stage: Stage, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(stage.environment / "bin" / "python"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_uv_installs_what_it_is_told(stage: Stage) -> None:
    assert stage.install("toy==1.0").status == 0
    seen = run(stage, "-c", "import toy; print(toy.__version__, toy.version.git_version, toy.run('grad'))")
    assert seen.stdout == "1.0 aaa111 None\n"


def test_exclude_newer_goes_by_the_upload_times(stage: Stage) -> None:
    assert " + toy==1.1\n" in stage.install("toy", options=["--reinstall", "--exclude-newer", "2026-01-03"]).stderr


def test_a_planted_exception_is_raised_where_it_was_planted(stage: Stage) -> None:
    stage.install("toy==1.1")
    seen = run(stage, "-m", "toy", "grad")
    assert (seen.returncode, seen.stderr.splitlines()[-1]) == (1, "RuntimeError: gradient is zero")
    assert "in compute" in seen.stderr


def test_a_yanked_build_is_installed_by_its_number_and_dies_as_planted(stage: Stage) -> None:
    assert "yanked (reason" in stage.install("toy==1.2").stderr
    assert run(stage, "-m", "toy", "grad").returncode == -11


def test_a_wrapped_exception_has_its_cause(stage: Stage) -> None:
    stage.install("toy==1.3")
    lines = run(stage, "-m", "toy", "grad").stderr.splitlines()
    assert "KeyError: 'x'" in lines
    assert lines[-1] == "toy.errors.Wrapper: failed"


def test_uv_tries_again_after_a_server_error(stage: Stage) -> None:
    stage.index.plant("toy-1.0-*", faults.status(503, times=1))
    stage.index.log.clear()
    assert stage.install("toy==1.0", cache=stage.root / "fresh", options=["--reinstall"]).status == 0
    assert stage.index.log.count(RequestKind.FILE) + stage.index.log.count(RequestKind.METADATA) == 3
