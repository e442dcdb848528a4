"""Environments made and proven with the sandbox on: whatever packages hold, nothing of it runs outside."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from stat import S_IFLNK
from zipfile import ZipFile, ZipInfo

import pytest

from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.environments.installing import purelib_of
from bisect_tool.environments.shown import needed_by
from bisect_tool.errors import BisectError, MachineFault
from tests.environments.conftest import Bench
from tests.rig.sandboxes import needs_sandbox
from tests.rig.toy import ToyBuild
from tests.rig.wheel_maker import make_sdist, make_wheel

pytestmark = needs_sandbox
# What runs writes into its own site-packages and into a folder of the user, and reads a file of the user.
ACTS = """
import os, sys
def try_to(do):
    try:
        do()
    except OSError:
        pass
try_to(lambda: open({mark!r}, "a").write(__name__ + "\\n"))
try_to(lambda: open(os.path.dirname(os.path.abspath(__file__)) + "/owned.py", "w").write("owned"))
try_to(lambda: sys.exit("it read " + open({secret!r}).read()))
"""


@pytest.fixture
def inside(bench: Bench) -> Bench:
    (bench.root / "secret").write_text("geheim")
    return replace(bench, environ={**bench.environ, "BISECT_SANDBOX": "on"})


def acting(bench: Bench) -> str:
    return ACTS.format(mark=str(bench.root / "mark"), secret=str(bench.root / "secret"))


def test_start_up_files_of_a_package_run_in_the_sandbox_only(inside: Bench) -> None:
    code = acting(inside)
    modules = {"evil/__init__.py": code, "evil.pth": "import evil\n", "sitecustomize.py": code}
    make_wheel(inside.index.folder, "evil", "1.0", modules=modules)
    made = inside.make(inside.key(inside.build(), requires=("evil",)))
    assert "evil" in made.health.packages
    assert not (inside.root / "mark").exists()
    assert not (purelib_of(made.folder / "venv") / "owned.py").exists()
    assert (purelib_of(made.folder / "venv") / "evil.pth").exists()


def test_no_file_of_a_package_decides_what_is_shown(inside: Bench) -> None:
    """Start-up files, the file of the environment itself, and a link: what a wheel may bring, or not."""
    elsewhere = inside.root / "home" / "keys"
    elsewhere.mkdir(parents=True)
    modules = {
        "evil/__init__.py": "",
        "_bisect_base.pth": f"import site; site.addsitedir('{elsewhere}')\n",
        "evil-1.0.data/data/pyvenv.cfg": f"home = {elsewhere}/bin\n",
    }
    wheel = make_wheel(inside.index.folder, "evil", "1.0", modules=modules)
    with ZipFile(wheel, "a") as archive:
        link = ZipInfo("link")
        link.external_attr = (S_IFLNK | 0o777) << 16
        archive.writestr(link, str(elsewhere))
    made = inside.make(inside.key(inside.build(), requires=("evil",)))
    assert not purelib_of(made.folder / "venv").joinpath("link").is_symlink()
    assert not [path for path in needed_by(made.programs) if inside.root / "home" in (path, *path.parents)]


def test_the_same_package_does_act_without_a_sandbox(bench: Bench) -> None:
    """So that the test above can fail."""
    code = acting(bench)
    make_wheel(bench.index.folder, "evil", "1.0", modules={"evil/__init__.py": code, "evil.pth": "import evil\n"})
    (bench.root / "secret").write_text("geheim")
    with pytest.raises(BuildUnusable, match="it read geheim"):
        bench.make(bench.key(bench.build(), requires=("evil",)))
    assert (bench.root / "mark").exists()


def test_a_package_that_would_have_to_be_built_is_not(inside: Bench) -> None:
    make_sdist(inside.index.folder, "evil", "1.0")
    with pytest.raises(BisectError):
        inside.make(inside.key(inside.build(), requires=("evil",)))


def test_an_environment_is_compiled_ahead_and_its_mark_says_so(inside: Bench) -> None:
    key = inside.key(inside.build())
    made = inside.make(key)
    site = purelib_of(made.folder / "venv")
    compiled = {path.name.split(".")[0] for path in (site / "toy" / "__pycache__").iterdir()}
    assert compiled == {path.stem for path in (site / "toy").glob("*.py")}
    assert '"compiled": true' in (made.folder / "bisect-environment.json").read_text().replace('":true', '": true')


def test_a_build_that_does_not_import_is_to_blame_inside_too(inside: Bench) -> None:
    make_wheel(inside.index.folder, "broken", "1.0", modules={"broken/__init__.py": "x = 1\n"}, requires=["absent"])
    make_wheel(inside.index.folder, "torch", "1.0", modules={"torch/__init__.py": "raise ImportError('libx.so')\n"})
    with pytest.raises(BuildUnusable, match=r"does not import: ImportError: libx.so"):
        inside.make(inside.key(inside.build("torch", "1.0")))


def test_a_build_that_crashes_is_to_blame_inside_too(inside: Bench) -> None:
    crash = "import os\nos.abort()\n"
    make_wheel(inside.index.folder, "torch", "1.0", modules={"torch/__init__.py": crash})
    with pytest.raises(BuildUnusable, match=r"does not import: ended by signal 6 Fatal Python error: Aborted"):
        inside.make(inside.key(inside.build("torch", "1.0")))


def test_a_sandbox_that_breaks_is_a_fault_of_the_machine(inside: Bench, tmp_path: Path) -> None:
    """It works when it is looked for, and not any more when the build is proven."""
    folder = tmp_path / "bin"
    folder.mkdir()
    count = folder / "count"
    count.write_text("")
    real = next(Path(one) / "bwrap" for one in os.environ["PATH"].split(":") if (Path(one) / "bwrap").exists())
    (folder / "bwrap").write_text(
        f'#!/bin/sh\necho x >> {count}\nif [ $(wc -l < {count}) -gt 2 ]; then echo "bwrap: no more" >&2; exit 1; fi\n'
        f'exec {real} "$@"\n'
    )
    (folder / "bwrap").chmod(0o755)
    environ = {**inside.environ, "PATH": f"{folder}:{inside.environ['PATH']}"}
    broken = replace(inside, environ=environ)
    broken.publish("toy", ToyBuild("1.2"))
    with pytest.raises(MachineFault, match=r"the sandbox did not start: bwrap: no more"):
        broken.make(broken.key(broken.build(version="1.2")))
