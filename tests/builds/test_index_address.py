from __future__ import annotations

from pathlib import Path

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from bisect_tool.builds.index_address import IndexAddress, find_index, without_credentials
from bisect_tool.errors import SettingError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def url(name: str) -> str:
    return f"https://{name}.example.org/simple"


def pip_conf(name: str) -> str:
    return f"[global]\nindex-url = {url(name)}\n"


class Machine:
    """A home and a root folder with every setting that counts; `drop` removes the strongest, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "root"
        self.environment = {
            "UV_DEFAULT_INDEX": url("uv-default"),
            "UV_INDEX_URL": url("uv-url"),
            "PIP_INDEX_URL": url("pip-url"),
            "PIP_CONFIG_FILE": str(write(folder / "named.conf", pip_conf("named"))),
        }
        self.files = [
            write(self.home / ".config/uv/uv.toml", f'[[index]]\nurl = "{url("user-uv")}"\ndefault = true\n'),
            write(self.root / "etc/uv/uv.toml", f'index-url = "{url("system-uv")}"\n'),
            Path(self.environment["PIP_CONFIG_FILE"]),
            write(self.home / ".config/pip/pip.conf", pip_conf("user-pip")),
            write(self.home / ".pip/pip.conf", pip_conf("old-pip")),
            write(self.root / "etc/xdg/pip/pip.conf", pip_conf("xdg-pip")),
            write(self.root / "etc/pip.conf", pip_conf("system-pip")),
        ]

    def find(self, explicit: str | None = None) -> IndexAddress:
        return find_index(explicit, self.environment, self.home, root=self.root)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_order_of_the_settings(machine: Machine) -> None:
    assert machine.find(url("flag")) == IndexAddress(url("flag"), "--index")
    for variable, name in [
        ("UV_DEFAULT_INDEX", "uv-default"),
        ("UV_INDEX_URL", "uv-url"),
        ("PIP_INDEX_URL", "pip-url"),
    ]:
        assert machine.find() == IndexAddress(url(name), variable)
        del machine.environment[variable]
    for path, name in zip(
        machine.files, ["user-uv", "system-uv", "named", "user-pip", "old-pip", "xdg-pip", "system-pip"], strict=True
    ):
        assert machine.find() == IndexAddress(url(name), str(path))
        path.unlink()
    assert machine.find() == IndexAddress(PYPI_SIMPLE_ENDPOINT, "the usual default")
    assert machine.find().is_default


def test_a_configured_index_is_not_the_default(machine: Machine) -> None:
    assert not machine.find().is_default
    assert machine.find(PYPI_SIMPLE_ENDPOINT.rstrip("/")).is_default


def test_empty_settings_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / ".config/pip/pip.conf", "[global]\nindex-url =\nfind-links = x\n[install]\nindex-url = y\n")
    write(tmp_path / ".config/uv/uv.toml", '[[index]]\nurl = "https://extra.example.org"\n[pip]\nstrict = true\n')
    assert find_index("", {"UV_DEFAULT_INDEX": ""}, tmp_path, root=tmp_path).is_default


def test_xdg_config_home(tmp_path: Path) -> None:
    write(tmp_path / "settings/uv/uv.toml", f'index-url = "{url("moved")}"\n')
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "settings")}
    assert find_index(None, environment, tmp_path / "home", root=tmp_path).url == url("moved")


def test_settings_can_be_switched_off(machine: Machine) -> None:
    machine.environment = {"UV_NO_CONFIG": "1", "PIP_CONFIG_FILE": "/dev/null"}
    assert machine.find().is_default


def test_another_file_for_uv(machine: Machine, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml", f'index-url = "{url("mine")}"\n')
    machine.environment = {"UV_CONFIG_FILE": str(path)}
    assert machine.find() == IndexAddress(url("mine"), str(path))


def test_uv_may_give_the_index_a_name(tmp_path: Path) -> None:
    environment = {"UV_DEFAULT_INDEX": f"company={url('named')}"}
    assert find_index(None, environment, tmp_path, root=tmp_path).url == url("named")


def test_pip_spells_keys_in_two_ways_and_keeps_percent_signs(tmp_path: Path) -> None:
    write(tmp_path / ".pip/pip.conf", "[global]\nindex_url = https://me:p%40ss@example.org/simple\n")
    assert find_index(None, {}, tmp_path, root=tmp_path).url == "https://me:p%40ss@example.org/simple"


@pytest.mark.parametrize("text", ["example.org/simple", "file:///wheels", "/wheels", "https://", "http://[me:secret@x"])
def test_an_address_must_be_one(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingError, match=r"is not an http or https address\n  where: --index") as caught:
        find_index(text, {}, tmp_path, root=tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", [".config/uv/uv.toml", ".pip/pip.conf"])
def test_a_broken_file_is_told_without_its_text(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "[[[ https://me:secret@example.org")
    with pytest.raises(SettingError, match="cannot be read") as caught:
        find_index(None, {}, tmp_path, root=tmp_path)
    assert caught.value.where == str(path)
    assert "secret" not in str(caught.value)


def test_credentials_never_show() -> None:
    address = IndexAddress("https://me:secret@example.org:8080/simple/?a=b", "--index")
    assert str(address) == "https://example.org:8080/simple/?a=b"
    assert "secret" not in repr(address)
    assert without_credentials("https://a@b:c@example.org/x") == "https://example.org/x"
    assert without_credentials("https://example.org/x") == "https://example.org/x"
