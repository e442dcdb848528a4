from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.spec import repro
from bisect_tool.spec.repro import case_command, case_digest, read_repro
from tests.spec.specs import GOOD, read_one


def place(folder: Path, **contents: str) -> None:
    """Write files; `__` in a name stands for `/`, and each is a Python file."""
    for name, content in contents.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def files(folder: Path, script: str, text: str = GOOD, **contents: str) -> list[str]:
    """The names of the files of a repro whose script says `script`."""
    place(folder, **contents)
    read = read_one(folder, text)
    (folder / "repro.py").write_text(script)
    return [name for name, _ in read_repro(read).files]


def digest(folder: Path, text: str = GOOD, script: str = "pass\n") -> str:
    read = read_one(folder, text)
    (folder / "repro.py").write_text(script)
    return read_repro(read).digest


def test_the_digest_has_64_digits_and_stays(tmp_path: Path) -> None:
    first = digest(tmp_path)
    assert len(first) == 64
    assert set(first) <= set("0123456789abcdef")
    assert digest(tmp_path) == first


def test_the_digest_does_not_depend_on_the_folder_or_on_the_rest_of_the_spec(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert digest(tmp_path / "other") == digest(tmp_path)
    assert digest(tmp_path, GOOD.replace("name: a", "name: b") + "timeout: 9\ntitle: t\n") == digest(tmp_path)


def test_the_digest_changes_with_the_content(tmp_path: Path) -> None:
    assert digest(tmp_path, script="pass\n") != digest(tmp_path, script="pass\n\n")


def test_the_digest_changes_with_the_name(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("pass\n")
    assert digest(tmp_path) != digest(tmp_path, GOOD.replace("repro.py", "other.py"))


def test_the_digest_changes_with_the_command(tmp_path: Path) -> None:
    one, other = ("name: a\ncommand: [python, repro.py, '1']\n", "name: a\ncommand: [python, repro.py, '2']\n")
    assert digest(tmp_path, one) != digest(tmp_path, other)


def test_bytes_that_move_between_files_change_the_digest(tmp_path: Path) -> None:
    text = GOOD + "files: [a.txt, b.txt]\n"
    (tmp_path / "a.txt").write_text("xy")
    (tmp_path / "b.txt").write_text("z")
    first = digest(tmp_path, text)
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("yz")
    assert digest(tmp_path, text) != first


def test_a_module_beside_the_script_changes_the_digest(tmp_path: Path) -> None:
    place(tmp_path, mine="x = 1\n")
    first = digest(tmp_path, script="import mine\n")
    place(tmp_path, mine="x = 2\n")
    assert digest(tmp_path, script="import mine\n") != first


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("import mine", ["mine.py"]),
        ("import mine as m, other", ["mine.py", "other.py"]),
        ("from mine import x", ["mine.py"]),
        ("def f():\n    import mine", ["mine.py"]),
        ("import pack", ["pack/__init__.py"]),
        ("import pack.deep", ["pack/__init__.py", "pack/deep.py"]),
        ("from pack import deep", ["pack/__init__.py", "pack/deep.py"]),
        ("from pack.deep import x", ["pack/__init__.py", "pack/deep.py"]),
        ("from pack.deep import *", ["pack/__init__.py", "pack/deep.py"]),
        ("import bare.deep", ["bare/deep.py"]),
        ("import json, os, torch", []),
        ("print('import mine')", []),
    ],
)
def test_what_a_script_imports(tmp_path: Path, script: str, found: list[str]) -> None:
    beside = {"mine": "", "other": "", "unused": "", "pack____init__": "", "pack__deep": "", "bare__deep": ""}
    place(tmp_path, **{name: text for name, text in beside.items() if name != "pack____init__"})
    (tmp_path / "pack" / "__init__.py").touch()
    assert files(tmp_path, script) == sorted([*found, "repro.py"])


def test_modules_that_modules_import(tmp_path: Path) -> None:
    names = files(tmp_path, "import one", one="import two", two="from pack.three import x", pack__three="x = 1")
    assert names == ["one.py", "pack/three.py", "repro.py", "two.py"]


def test_relative_imports_inside_a_package(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from . import one\nfrom .two import x\n")
    names = files(tmp_path, "import pack", pack__one="", pack__two="from .deep.three import x", pack__deep__three="")
    assert names == ["pack/__init__.py", "pack/deep/three.py", "pack/one.py", "pack/two.py", "repro.py"]


def test_relative_imports_from_the_package_above(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    names = files(
        tmp_path,
        "import pack.sub.one",
        pack__sub__one="from ..two import x\nfrom .. import three",
        pack__two="",
        pack__three="",
    )
    assert names == ["pack/__init__.py", "pack/sub/one.py", "pack/three.py", "pack/two.py", "repro.py"]


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    assert files(tmp_path, "import one", one="import two", two="import one, repro") == ["one.py", "repro.py", "two.py"]


def test_data_files_that_the_spec_names(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.bin").write_bytes(b"\xff\0")
    assert files(tmp_path, "pass", GOOD + "files: [data/x.bin]\n") == ["data/x.bin", "repro.py"]


def test_modules_imported_by_a_file_that_the_spec_names(tmp_path: Path) -> None:
    names = files(tmp_path, "pass", GOOD + "files: [plugin.py]\n", plugin="import mine", mine="")
    assert names == ["mine.py", "plugin.py", "repro.py"]


@pytest.mark.parametrize(
    ("command", "words", "found"),
    [
        ("python repro.py -v", ("python", "repro.py", "-v"), ["mine.py", "repro.py"]),
        ("[python, repro.py, a b]", ("python", "repro.py", "a b"), ["mine.py", "repro.py"]),
        ("python 'a b.py'", ("python", "a b.py"), ["a b.py"]),
        ("./run.sh repro.py", ("./run.sh", "repro.py"), ["mine.py", "repro.py", "run.sh"]),
        ("python -c pass", ("python", "-c", "pass"), []),
        ("[bash, -c, 'cat repro.py | head']", ("bash", "-c", "cat repro.py | head"), []),
        ("[ls, ., .., /, ../repro.py]", ("ls", ".", "..", "/", "../repro.py"), []),
    ],
)
def test_the_files_that_a_command_names(tmp_path: Path, command: str, words: tuple[str, ...], found: list[str]) -> None:
    place(tmp_path, mine="")
    (tmp_path / "a b.py").touch()
    (tmp_path / "run.sh").touch()
    read = read_one(tmp_path, f"name: a\ncommand: {command}\n")
    (tmp_path / "repro.py").write_text("import mine\n")
    made = read_repro(read)
    assert made.words == words
    assert [name for name, _ in made.files] == found


def test_the_content_is_what_the_file_holds(tmp_path: Path) -> None:
    read = read_one(tmp_path, GOOD)
    (tmp_path / "repro.py").write_bytes(b"# \xff\r\n")
    assert read_repro(read).files == (("repro.py", b"# \xff\r\n"),)


def test_a_file_that_went_away(tmp_path: Path) -> None:
    read = read_one(tmp_path, GOOD)
    (tmp_path / "repro.py").unlink()
    with pytest.raises(SpecError, match="cannot be read: No such file") as caught:
        read_repro(read)
    assert caught.value.where == str(tmp_path / "repro.py")


def test_too_much_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repro, "MOST_BYTES", 1024**2)
    (tmp_path / "big").write_bytes(bytes(1024**2))
    with pytest.raises(SpecError, match="larger than 1 MB together"):
        read_repro(read_one(tmp_path, GOOD + "files: [big]\n"))


def test_the_words_of_a_case(tmp_path: Path) -> None:
    read = read_one(tmp_path, GOOD + "cases: [{name: x, args: [-n, 3]}]\n")
    assert case_command(read.spec.cases[0], read_repro(read)) == ("python", "repro.py", "-n", "3")


def of_case(folder: Path, case: str, spec: str = "") -> str:
    read = read_one(folder, f"{GOOD}{spec}cases: [{{{case}}}, {{name: other}}]\n")
    return case_digest(read.spec.cases[0], read.spec)


@pytest.mark.parametrize(
    ("case", "spec"),
    [
        ("name: x, args: [b]", ""),
        ("name: x, args: [a, b]", ""),
        ("name: x, args: [a], env: {A: b}", ""),
        ("name: x, args: [a], timeout: 299", ""),
        ("name: x, args: [a]", "env: {A: b}\n"),
        ("name: x, args: [a]", "timeout: 299\n"),
    ],
)
def test_the_digest_of_a_case_changes_with(tmp_path: Path, case: str, spec: str) -> None:
    assert of_case(tmp_path, case, spec) != of_case(tmp_path, "name: x, args: [a]")


@pytest.mark.parametrize(
    ("case", "spec"),
    [
        ("name: y, args: [a]", ""),
        ("name: x, args: [a], role: control", ""),
        ("name: x, args: [a], timeout: 300", "timeout: 7\n"),
        ("name: x, args: [a]", "title: t\nfrom: 2.10\npackage: numpy\nrequires: [scipy]\n"),
    ],
)
def test_the_digest_of_a_case_does_not_change_with(tmp_path: Path, case: str, spec: str) -> None:
    assert of_case(tmp_path, case, spec) == of_case(tmp_path, "name: x, args: [a]")


def test_a_variable_of_the_case_wins_over_that_of_the_spec(tmp_path: Path) -> None:
    both = of_case(tmp_path, "name: x, env: {A: case}", "env: {A: spec}\n")
    assert both == of_case(tmp_path, "name: x, env: {A: case}")


@pytest.mark.parametrize("script", ["repro.py", "./repro.py"])
def test_a_file_is_there_once_however_it_is_written(tmp_path: Path, script: str) -> None:
    text = f"name: a\nscript: {script}\nfiles: [./repro.py, ./x.txt, x.txt]\n"
    (tmp_path / "x.txt").touch()
    assert files(tmp_path, "pass", text) == ["repro.py", "x.txt"]


@pytest.mark.parametrize(
    ("package", "hiding"),
    [("torch", "torch.py"), ("torch", "torch/__init__.py"), ("liger-kernel", "liger_kernel.py"), ("Keras", "keras.py")],
)
def test_a_module_that_hides_the_package_is_refused(tmp_path: Path, package: str, hiding: str) -> None:
    (tmp_path / hiding).parent.mkdir(exist_ok=True)
    (tmp_path / hiding).write_text("BAD = 0\n")
    read = read_one(tmp_path, f"{GOOD}package: {package}\n")
    (tmp_path / "repro.py").write_text(f"import {hiding.removesuffix('.py').removesuffix('/__init__')}\n")
    with pytest.raises(SpecError, match=f"would be imported instead of the package {package}"):
        read_repro(read)


def test_a_script_named_like_the_package_is_refused(tmp_path: Path) -> None:
    place(tmp_path, torch="import torch\n")
    with pytest.raises(SpecError, match=r"`torch\.py` beside the script"):
        read_repro(read_one(tmp_path, "name: a\nscript: torch.py\n"))


def test_a_module_of_that_name_inside_another_package_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    found = files(tmp_path, "import mine.torch\n", mine__torch="")
    assert found == ["mine/__init__.py", "mine/torch.py", "repro.py"]


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "data.bin").open("wb") as data:
        data.truncate(1 << 42)  # sparse: 4 TiB would not fit into memory
    read = read_one(tmp_path, f"{GOOD}files: [data.bin]\n")
    with pytest.raises(SpecError, match="larger than 64 MB together"):
        read_repro(read)


def test_a_quoted_operator_needs_no_shell(tmp_path: Path) -> None:
    read = read_one(tmp_path, "name: a\ncommand: python repro.py --match 'a|b' a\\;b\n")
    assert read_repro(read).words == ("python", "repro.py", "--match", "a|b", "a;b")


def test_words_that_are_too_long_for_a_name_are_no_files(tmp_path: Path) -> None:
    line = f"import torch; print({'+'.join('1' * 200)})"
    text = GOOD.replace("script: repro.py", f"command: [python, -c, {line!r}]")
    assert text != GOOD
    assert files(tmp_path, "pass\n", text) == []
    assert files(tmp_path, f"import {'a' * 300}\n") == ["repro.py"]


def test_a_module_that_the_parser_gives_up_on_is_kept(tmp_path: Path) -> None:
    assert files(tmp_path, "import helper\n", helper="-" * 20_000 + "1") == ["helper.py", "repro.py"]
