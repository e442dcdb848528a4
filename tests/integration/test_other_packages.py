"""Packages beside the build: held for every build, or those of a base, taken as they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import Place
from tests.integration.test_real_builds import bisect
from tests.integration.test_run import ends
from tests.rig.toy import ToyBuild, day

REPRO = "import frame, toy\nassert frame.__version__ == '9.0'\nassert toy.__version__ < '1.3', 'too new'\n"
FILES = """
import importlib.metadata, sys
names = {file.name for file in importlib.metadata.files("liger-kernel-nightly")}
sys.exit("attn_res.py" not in names)
"""


def test_another_package_is_held_while_the_builds_move(place: Place) -> None:
    """As triton with torch fixed: what is held asks for exactly one build, and is newer than all of them."""
    place.publish([ToyBuild(f"1.{number}", uploaded=day(number + 1)) for number in range(6)])
    place.publish([ToyBuild("9.0", requires=("toy==1.4",), uploaded=day(90))], package="frame")
    answer = place.answer("run", place.spec(script=REPRO, hold="frame==9.0", from_="1.0"))
    assert ends(answer) == [("exact", "1.2", "1.3", "open", "1.5", None)]
    assert "frame 9.0 asks for toy==1.4, which gave way (4 builds from 1.0 to 1.5)" in answer["advice"]


@pytest.mark.network
def test_real_nightlies_over_a_base_that_lacks_what_they_need(tmp_path: Path) -> None:
    """The kernel of pull request 1161 came on 2026-03-28; whether its file is there is seen without torch."""
    (tmp_path / "repro.py").write_text(FILES)
    spec = {
        "name": "attn-res", "package": "liger-kernel-nightly", "base": "system", "as_is": ["torch", "triton"],
        "python": sys.executable, "device": "cpu", "script": "repro.py", "flaky": "no", "from": "2026-03-12",
        "to": "2026-04-05",
    }  # fmt: skip
    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    answer = bisect(tmp_path, str(tmp_path / "spec.yaml"))
    assert ends(answer) == [
        ("open", None, "0.7.0.dev20260312030103", "exact", "0.7.0.dev20260328073959", "0.7.0.dev20260328083325")
    ]
    assert any(line.startswith("torch (which is not there) is taken as it is, ") for line in answer["advice"])
    assert answer["counts"]["builds_considered"] == 30
