from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from bisect_tool.history.carried import revision_in_folder, revision_in_version, revision_in_wheel
from tests.rig.wheel_maker import WheelFault, make_wheel

SHA = "aed20b1240f5fee4b93227769c79414f66b62ced"

FORMS = {
    "torch": f"__version__ = '2.16.0'\ndebug = False\ncuda = '13.0'\ngit_version = '{SHA}'\nhip = None\n",
    "numpy": f'version = "2.0"\n_built = True\ngit_revision: str = "{SHA}"\n',
    "setuptools_scm": f"__version__ = version = '1.2.dev3'\n__commit_id__ = commit_id = 'g{SHA[:9]}'\n",
    "versioneer": f'import json\nversion_json = """\n{{\n "full-revisionid": "{SHA}",\n "version": "3"\n}}\n"""\n',
}


@pytest.mark.parametrize(
    ("version", "sha"),
    [
        ("3.9.0+gitaad2a60d", "aad2a60d"),
        ("2.1.0+e6216047b8", "e6216047b8"),
        ("1.2.dev3+g1a2b3c4d5.d20260101", "1a2b3c4d5"),
        ("2.16.0a0+git1234567", "1234567"),
        ("2.16.0.dev20261007+cu130", None),
        ("2.16.0+cpu", None),
        ("1.0+20260101", None),
        ("1.0+local", None),
        ("1.0", None),
        ("not a version", None),
    ],
)
def test_a_revision_in_the_version(version: str, sha: str | None) -> None:
    assert revision_in_version(version) == sha


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["version.py", "_version.py"])
def test_a_revision_in_a_module(tmp_path: Path, form: str, name: str) -> None:
    wheel = make_wheel(tmp_path, "toy-kit", "1.0", modules={"toy_kit/__init__.py": "", f"toy_kit/{name}": FORMS[form]})
    found = revision_in_wheel(wheel, "toy-kit")
    assert found == (SHA[:9] if form == "setuptools_scm" else SHA)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    assert revision_in_folder(tmp_path / "site", "toy-kit") == found


def test_the_package_itself_wins_over_what_it_brings_along(tmp_path: Path) -> None:
    modules = {"aaa/version.py": f"git_version = '{'1' * 40}'\n", "toy/version.py": f"git_version = '{SHA}'\n"}
    assert revision_in_wheel(make_wheel(tmp_path, "toy", "1.0", modules=modules), "toy") == SHA


def test_an_installation_from_a_repository(tmp_path: Path) -> None:
    info = tmp_path / "toy-1.0.dist-info"
    info.mkdir()
    (info / "direct_url.json").write_text(
        json.dumps({"url": "https://x", "vcs_info": {"vcs": "git", "commit_id": SHA}})
    )
    other = tmp_path / "another-1.0.dist-info"
    other.mkdir()
    (other / "direct_url.json").write_text(
        json.dumps({"url": "https://x", "vcs_info": {"vcs": "git", "commit_id": "1" * 40}})
    )
    assert revision_in_folder(tmp_path, "toy") == SHA
    assert revision_in_folder(tmp_path, "unknown") is None


@pytest.mark.parametrize("text", ["git_version = 'Unknown'\n", "", "[1, 2", "commit = 'abc'\n", "\x00\xff"])
def test_nothing_is_carried(tmp_path: Path, text: str) -> None:
    wheel = make_wheel(tmp_path, "toy", "1.0", modules={"toy/__init__.py": "", "toy/version.py": text})
    assert revision_in_wheel(wheel, "toy") is None


@pytest.mark.parametrize("fault", [WheelFault.NOT_A_ZIP, WheelFault.TRUNCATED])
def test_a_damaged_wheel(tmp_path: Path, fault: WheelFault) -> None:
    modules = {"toy/version.py": FORMS["torch"]}
    assert revision_in_wheel(make_wheel(tmp_path, "toy", "1.0", modules=modules, broken=[fault]), "toy") is None


def test_no_wheel(tmp_path: Path) -> None:
    assert revision_in_wheel(tmp_path / "gone.whl", "toy") is None
    assert revision_in_folder(tmp_path / "gone", "toy") is None
