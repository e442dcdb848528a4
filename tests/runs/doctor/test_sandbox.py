"""What `bisect doctor` says of the sandbox."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_tool.runs.doctor.checks import sandbox
from tests.rig.nvml_library import FakeLibrary
from tests.rig.sandboxes import needs_sandbox
from tests.runs.doctor.machines import place


@pytest.mark.parametrize(("wish", "level"), [("off", "ok"), ("auto", "ok"), ("on", "problem")])
def test_without_bubblewrap_it_is_a_problem_only_where_there_has_to_be_one(
    tmp_path: Path, wish: str, level: str
) -> None:
    made = place(tmp_path, FakeLibrary(()), environ={"PATH": str(tmp_path)})
    made = replace(made, settings=replace(made.settings, sandbox=wish))
    (found,) = sandbox.check(made)
    assert (found.about, found.level, found.facts) == ("sandbox", level, {"works": False, "setting": wish})
    assert "bubblewrap (`bwrap`) is not installed" in found.says
    assert "install the package `bubblewrap`" in found.fix


@needs_sandbox
def test_where_it_works(tmp_path: Path) -> None:
    first, *_ = sandbox.check(place(tmp_path, FakeLibrary(()), environ={"PATH": os.environ["PATH"]}))
    assert (first.level, first.facts["works"]) == ("ok", True)


@needs_sandbox
def test_a_compiler_that_only_outside_has_is_told(tmp_path: Path) -> None:
    """`gcc` on the path, in a folder that nobody shows: what Triton compiles would fail on every build."""
    hidden = tmp_path / "tools" / "gcc"
    hidden.parent.mkdir()
    hidden.write_text("#!/bin/sh\n")
    hidden.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "CXX": "/usr/bin/env", "CC": "gcc"}
    made = replace(
        place(tmp_path, FakeLibrary(()), environ=environ), which=lambda name: f"{hidden}" if name == "gcc" else name
    )
    found = [one for one in sandbox.check(made) if "compiler" in one.says]
    assert [(one.level, str(hidden) in one.says) for one in found] == [("warning", True)]
    assert "--sandbox-shows" in found[0].fix
    shown = replace(made, settings=replace(made.settings, sandbox_shows=str(hidden.parent)))
    assert [one for one in sandbox.check(shown) if "compiler" in one.says] == []
