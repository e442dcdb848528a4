"""Compiling the files of an environment ahead runs nothing of it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from bisect_tool.environments.compiling import compile_ahead
from bisect_tool.environments.installing import purelib_of
from bisect_tool.environments.sandbox import find_sandbox
from bisect_tool.stopping import Stop
from tests.rig.sandboxes import needs_sandbox
from tests.rig.warm_environment import make_environment


@needs_sandbox
def test_a_package_that_says_where_the_standard_library_is_runs_nothing(tmp_path: Path) -> None:
    venv, scratch = tmp_path / "venv", tmp_path / "scratch"
    scratch.mkdir()
    make_environment(venv, {"victim": "GOOD = 1\n"})
    victim = purelib_of(venv) / "victim.py"
    # What a wheel can bring along: another `pyvenv.cfg`, and a standard library whose first module writes.
    library = venv / "x" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library.mkdir(parents=True)
    (venv / "x" / "bin").mkdir()
    for path in Path(sysconfig.get_path("stdlib")).iterdir():
        if path.name not in {"encodings", "site-packages", "__pycache__"}:
            (library / path.name).symlink_to(path)
    (library / "encodings").mkdir()
    (library / "encodings" / "__init__.py").write_text(
        f"import posix\nposix.write(posix.open({str(victim)!r}, posix.O_WRONLY | posix.O_TRUNC), b'POISON = 1')\n"
    )
    (venv / "pyvenv.cfg").write_text(f"home = {venv / 'x' / 'bin'}\n")

    compile_ahead(venv, find_sandbox(os.environ), scratch, Stop())

    assert victim.read_text() == "GOOD = 1\n"
    assert list(victim.parent.glob("__pycache__/victim.*.pyc"))
