"""Files that other environments have compiled are compiled ahead: the same code, from the same source, and nothing else."""

from __future__ import annotations

import errno
import marshal
import os
import py_compile
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from bisect_tool.environments import compiled_before, environment
from bisect_tool.environments.installing import purelib_of
from tests.environments.conftest import Bench
from tests.rig.toy import ToyBuild

CODE = "def answer():\n    return 'The answer'\n"


class Place:
    """Two folders of packages, the older of which has imported what it has, and a store."""

    def __init__(self, root: Path) -> None:
        self.store, self.older, self.newer = (root / name for name in ("store", "older", "newer"))

    def put(self, name: str, older: str, newer: str | None = None) -> Path:
        """A file that both have, compiled in the older; gives that of the newer."""
        for folder, code in ((self.older, older), (self.newer, older if newer is None else newer)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(code)
        target = Path(cache_from_source(str(self.older / name)))
        target.parent.mkdir(exist_ok=True)
        target.touch()  # what is in it must not matter
        return self.newer / name

    def fill(self) -> None:
        compiled_before.main(str(self.newer), str(self.store), [str(self.older)])

    def entry(self) -> Path:
        """The only entry of the store."""
        (found,) = (one for one in self.store.rglob("*") if one.is_file())
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def compiled(file: Path) -> Path:
    return Path(cache_from_source(str(file)))


def said_by(file: Path, *flags: str) -> str:
    """What a new Python says of importing a file: the answer, and whether it has read the compiled form."""
    code = f"import {file.stem} as m; print(m.answer())"
    words = [
        sys.executable,
        "-I",
        "-S",
        "-B",
        "-v",
        *flags,
        "-c",
        f"import sys; sys.path[:0] = [{str(file.parent)!r}]; {code}",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return f"{done.stdout.strip()}, {'compiled' if f'matches {file}' in done.stderr else 'source'}"


def test_it_is_what_python_writes_itself_to_the_byte(place: Place, tmp_path: Path) -> None:
    file = place.put("pack/mod.py", CODE)
    place.fill()
    own = tmp_path / "own.pyc"
    py_compile.compile(
        str(file), cfile=str(own), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP
    )
    assert compiled(file).read_bytes() == own.read_bytes()
    assert said_by(file) == "The answer, compiled"


def test_what_the_other_environment_has_compiled_is_not_taken(place: Place) -> None:
    file = place.put("mod.py", CODE)
    py_compile.compile(str(place.older / "mod.py"), cfile=cache_from_source(str(place.older / "mod.py")))
    (place.older / "mod.py").write_text(CODE.replace("The answer", "Poisoned  "))
    place.fill()
    assert said_by(file) == "The answer, compiled"


def test_another_source_of_the_same_size_and_time_is_other_code(place: Place) -> None:
    other = CODE.replace("The answer", "the ANSWER")
    file = place.put("mod.py", CODE)
    place.fill()
    file.write_text(other)
    os.utime(file, (1, 1))
    compiled(file).unlink()
    place.fill()
    assert said_by(file) == "the ANSWER, compiled"


def test_code_of_the_store_says_where_it_is_now(place: Place) -> None:
    first = place.put("mod.py", CODE)
    place.fill()
    second = place.put("elsewhere.py", CODE)
    place.fill()
    assert len([one for one in place.store.rglob("*") if one.is_file()]) == 1
    ask = f"import sys; sys.path[:0] = [{str(second.parent)!r}]; import elsewhere as m; print(m.answer.__code__.co_filename)"
    words = [sys.executable, "-I", "-S", "-B", "-c", ask]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == str(second)
    assert first.name != second.name


def test_a_damaged_entry_of_the_store_is_compiled_again(place: Place) -> None:
    file = place.put("mod.py", CODE)
    place.fill()
    entry = place.entry()
    entry.write_bytes(entry.read_bytes()[:-7])
    compiled(file).unlink()
    place.fill()
    assert said_by(file) == "The answer, compiled"
    other = marshal.dumps(compile(CODE.replace("The", "No"), "x", "exec"))
    entry.write_bytes(entry.read_bytes()[:32] + other)
    compiled(file).unlink()
    place.fill()
    assert said_by(file) == "The answer, compiled"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("def answer():\n    return '\\d'\n", id="warns"),
        pytest.param("def answer(:\n", id="no Python"),
        pytest.param("x = '\0'\n", id="a zero"),
        pytest.param("# coding: nothing-known\n", id="an unknown encoding"),
    ],
)
def test_what_warns_or_fails_says_so_at_its_import(place: Place, code: str) -> None:
    file = place.put("mod.py", code)
    for _ in range(2):  # the second time from the store
        place.fill()
        assert not compiled(file).exists()


def test_only_what_the_build_has_and_what_is_not_there(place: Place) -> None:
    file, gone = place.put("mod.py", CODE), place.put("gone.py", CODE)
    gone.unlink()
    compiled(file).parent.mkdir()
    compiled(file).write_bytes(b"of a newer import")
    place.fill()
    assert [one.name for one in compiled(file).parent.iterdir()] == [compiled(file).name]
    assert compiled(file).read_bytes() == b"of a newer import"


def test_nothing_is_written_through_a_link(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    in_link, beside_link = place.put("linked/mod.py", CODE), place.put("pack/mod.py", CODE)
    in_link.unlink()
    in_link.parent.rmdir()
    (elsewhere / "mod.py").write_text(CODE)
    in_link.parent.symlink_to(elsewhere)
    (beside_link.parent / "__pycache__").symlink_to(elsewhere)
    place.fill()
    assert [one.name for one in elsewhere.iterdir()] == ["mod.py"]


def test_the_older_half_goes_when_there_are_too_many(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_before, "MOST", 4)
    for number in range(5):
        place.put(f"mod{number}.py", f"number = {number}\n")
    place.fill()
    assert len([one for one in place.store.rglob("*") if one.is_file()]) == 3


def test_the_second_build_is_compiled_before_its_first_import(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "WORTH_COMPILING", 0)
    bench.publish("toy", *(ToyBuild(version) for version in ("1.0", "1.1", "1.2")))
    found = []
    for version in ("1.0", "1.1", "1.2"):
        if version == "1.2":  # one that is just being removed says nothing
            shutil.rmtree(bench.cache.environments / bench.key(bench.build()).folder_name / "venv")
        made = bench.make(bench.key(bench.build(version=version)))
        file = purelib_of(made.folder / "venv") / "toy" / "__init__.py"
        found.append(compiled(file).exists())
        subprocess.run([made.programs / "python", "-c", "import toy"], check=True, env={})
    assert found == [False, True, True]


def test_a_small_wheel_is_not_worth_it(bench: Bench) -> None:
    bench.publish("toy", ToyBuild("1.0"), ToyBuild("1.1"))
    for version in ("1.0", "1.1"):
        made = bench.make(bench.key(bench.build(version=version)))
        subprocess.run([made.programs / "python", "-c", "import toy"], check=True, env={})
    assert not bench.cache.compiled.exists()


def test_a_file_where_the_other_build_has_a_folder_ends_nothing(place: Place) -> None:
    after = place.put("z.py", CODE)
    place.put("a/inside.py", CODE).unlink()
    (place.newer / "a").rmdir()
    (place.newer / "a").write_text("no folder here")
    place.fill()
    assert compiled(after).is_file()


def test_a_full_disk_ends_it_and_leaves_no_part(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = place.put("a.py", CODE), place.put("b.py", CODE)
    tried: list[str] = []

    def full(_part: str, path: str) -> None:
        tried.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    place.fill()
    assert len(tried) == 1
    assert not compiled(first).exists()
    assert not compiled(second).exists()
    assert [one for one in place.store.rglob("*") if one.is_file()] == []
