from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.runs.batch.finding import Found, distinct_names, find, read_members

SPEC = '{"name": "NAME", "package": "toy", "script": "repro.py", "device": "cpu"}'


def write(folder: Path, *files: str, name: str = "x") -> None:
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SPEC.replace("NAME", name))
        (path.parent / "repro.py").write_text("import toy\n")


def found(folder: Path, *given: str) -> list[str]:
    return [one.path.relative_to(folder).as_posix() for one in find([folder / path for path in given])[0]]


def test_folders_with_a_spec_and_yaml_files_are_specs(tmp_path: Path) -> None:
    write(tmp_path, "in/b/spec.yaml", "in/b/data/other.yaml", "in/a.yaml", "in/deep/er/c.yml", "in/.git/d.yaml")
    assert found(tmp_path, "in") == ["in/a.yaml", "in/b/spec.yaml", "in/deep/er/c.yml"]


def test_a_script_is_taken_only_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "in/a.yaml")
    assert found(tmp_path, "in", "in/repro.py") == ["in/a.yaml", "in/repro.py"]


def test_a_file_that_is_given_twice_is_answered_once_and_said_so(tmp_path: Path) -> None:
    write(tmp_path, "in/a/spec.yaml")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "in/a/spec.yaml")
    files, notes = find([tmp_path / "in", tmp_path / "in/a", tmp_path / "link.yaml"])
    assert len(files) == 1
    assert len(notes) == 2
    assert "given twice" in notes[0]


def test_a_folder_without_specs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no spec is there"):
        find([tmp_path])


def test_a_name_that_two_specs_have_gets_digits_that_do_not_depend_on_the_order(tmp_path: Path) -> None:
    write(tmp_path, "in/a/spec.yaml", "in/b/spec.yaml", name="same")
    write(tmp_path, "in/c/spec.yaml", name="own")
    files, _ = find([tmp_path / "in"])
    names = {m.path.parent.name: m.name for m in read_members(files, channels=["release"], changes={})}
    other = {m.path.parent.name: m.name for m in read_members(files[::-1], channels=["release"], changes={})}
    assert names == other
    assert names["c"] == "own"
    assert names["a"] != names["b"]
    assert names["a"].startswith("same-")


def test_names_are_alike_wherever_the_folder_lies(tmp_path: Path) -> None:
    one = distinct_names([("x", Found(tmp_path / "1/a.yaml", "a.yaml")), ("x", Found(tmp_path / "1/b.yaml", "b.yaml"))])
    two = distinct_names([("x", Found(tmp_path / "2/a.yaml", "a.yaml")), ("x", Found(tmp_path / "2/b.yaml", "b.yaml"))])
    assert one == two


def test_equal_names_in_equal_places_of_two_folders_are_told_apart(tmp_path: Path) -> None:
    names = distinct_names(
        [("x", Found(tmp_path / "1/a.yaml", "a.yaml")), ("x", Found(tmp_path / "2/a.yaml", "a.yaml"))]
    )
    assert len(set(names)) == 2


def test_an_invalid_spec_costs_300_good_ones_nothing(tmp_path: Path) -> None:
    good = [f"good-{number:03}" for number in range(300)]
    for name in good:
        write(tmp_path, f"in/{name}.yaml", name=name)
    (tmp_path / "in" / "bad one.yaml").write_text("cases: [")
    members = read_members(find([tmp_path / "in"])[0], channels=["release"], changes={})
    assert [(m.name, m.read is not None) for m in members] == [("bad-one", False), *((name, True) for name in good)]
    assert isinstance(members[0].error, SpecError)
