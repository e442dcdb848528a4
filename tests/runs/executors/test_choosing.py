from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool.errors import SettingError
from bisect_tool.runs.executors.choosing import Opening, names, open_place
from bisect_tool.runs.executors.local import LocalPlace
from bisect_tool.settings import read_settings


def opening(tmp_path: Path, **flags: object) -> Opening:
    return Opening(read_settings(flags, {}, tmp_path), {}, lambda _event: None)


def test_each_file_is_an_executor_and_nothing_else_is() -> None:
    assert names() == ("local", "ray")


def test_without_a_word_it_is_this_machine(tmp_path: Path) -> None:
    assert isinstance(open_place(opening(tmp_path)), LocalPlace)


@pytest.mark.parametrize(("given", "meant"), [("rai", "; did you mean 'ray'?"), ("choosing", ""), ("cluster", "")])
def test_an_unknown_name_is_answered_with_those_that_exist(tmp_path: Path, given: str, meant: str) -> None:
    with pytest.raises(SettingError) as caught:
        open_place(opening(tmp_path, executor=given))
    error = caught.value
    assert (error.what, error.where) == (f"there is no executor {given!r}{meant}", "--executor")
    assert error.advice == "executors are local, ray"


def test_without_ray_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingError, match="needs Ray") as caught:
        open_place(opening(tmp_path, executor="ray"))
    assert "bisect-tool[ray]" in caught.value.advice


def test_ray_is_loaded_only_when_it_is_asked_for(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom bisect_tool.settings import read_settings\n"
        "from bisect_tool.runs.executors.choosing import Opening, open_place\n"
        f"open_place(Opening(read_settings({{}}, {{}}, Path({str(tmp_path)!r})), {{}}, print))\n"
        "print('ray' in sys.modules, 'bisect_tool.runs.executors.ray' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
