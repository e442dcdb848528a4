from __future__ import annotations

import os
from pathlib import Path

import pytest

from bisect_tool.spec.reading import load_all
from tests.spec.specs import CHANNELS, GOOD, mistakes, refusal, write_spec


def test_a_script_that_is_missing_has_a_likely_name(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "name: a\nscript: rpro.py\n") == [
        f'line 2, script: found "rpro.py", which does not exist, expected a file in {tmp_path}; did you mean "repro.py"?'
    ]


def test_a_script_with_a_syntax_error(tmp_path: Path) -> None:
    assert mistakes(tmp_path, GOOD, script="x = 1\nif x\n    pass\n") == [
        "line 2, script: found a syntax error in line 2: expected ':', expected a Python script"
    ]


def test_a_script_for_another_python_is_not_compiled_here(tmp_path: Path) -> None:
    write_spec(tmp_path, "", script="print 'old'\n")
    path = write_spec(tmp_path, GOOD + "python: '3.15'\n", script=None)
    assert load_all([path], channels=CHANNELS)[0].spec.python == "3.15"


def test_an_empty_script(tmp_path: Path) -> None:
    assert mistakes(tmp_path, GOOD, script="") == [
        'line 2, script: found "repro.py", which is empty, expected a script'
    ]


def test_a_script_with_odd_escapes_warns_nobody(tmp_path: Path) -> None:
    path = write_spec(tmp_path, GOOD, script='x = "\\d" is 1\n')
    assert load_all([path], channels=CHANNELS)[0].spec.script == "repro.py"


@pytest.mark.parametrize("key", ["script", "python"])
def test_a_path_longer_than_the_system_takes(tmp_path: Path, key: str) -> None:
    (found,) = mistakes(tmp_path, f"name: a\n{key}: {'x' * 5000}\n" + ("script: repro.py\n" * (key == "python")))
    assert found.startswith(f"line 2, {key}: ")


def test_a_missing_file_has_a_likely_name(tmp_path: Path) -> None:
    path = write_spec(tmp_path, GOOD)
    error = refusal(tmp_path / "spek.yaml")
    assert error.what.splitlines()[1].strip() == (
        f'found no such file, expected a spec or a script; did you mean "{path}"?'
    )


def test_a_missing_file_with_a_name_too_long(tmp_path: Path) -> None:
    assert "found no such file" in refusal(tmp_path / ("x" * 5000)).what


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "spec.yaml")
    assert "found no regular file" in refusal(tmp_path / "spec.yaml").what


def test_a_folder_stands_for_its_spec(tmp_path: Path) -> None:
    path = write_spec(tmp_path, GOOD)
    (found,) = load_all([tmp_path], channels=CHANNELS)
    assert (found.path, found.folder) == (path, tmp_path)


def test_a_folder_without_a_spec(tmp_path: Path) -> None:
    (tmp_path / "spek.yaml").touch()
    assert f'did you mean "{tmp_path / "spek.yaml"}"?' in refusal(tmp_path).what


def test_a_plain_script_becomes_a_spec(tmp_path: Path) -> None:
    path = tmp_path / "my bug (2).py"
    path.write_text("pass\n")
    (found,) = load_all([path], channels=CHANNELS)
    assert (found.spec.name, found.spec.script, found.folder) == ("my-bug-2", "my bug (2).py", tmp_path)


def test_a_plain_script_with_a_syntax_error(tmp_path: Path) -> None:
    path = tmp_path / "bug.py"
    path.write_text("if\n")
    assert refusal(path).what == (
        f"{path}: 1 mistake\n  script: found a syntax error in line 1: invalid syntax, expected a Python script"
    )


def test_a_plain_script_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "repro.py").touch()
    assert f'did you mean "{tmp_path / "repro.py"}"?' in refusal(tmp_path / "rpro.py").what
