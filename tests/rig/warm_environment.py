"""A real virtual environment, made in a fraction of a second, with a module that stands for the heavy ones of a build."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bisect_tool.environments.installing import HOOK, purelib_of

HEAVY = "heavy"
_CODE = "import json, os, sys\nIMPORTED_BY = os.getpid()\n"


def make_environment(folder: Path, modules: Mapping[str, str] | None = None) -> Path:
    """Make one with the module `heavy`, `modules` and the exception hook; gives the folder of its programs.

    `modules` are sources by name, or by `package/name`.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = purelib_of(folder)
    for name, code in {HEAVY: _CODE, **(modules or {})}.items():
        path = packages / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    shutil.copy(HOOK, packages / "_bisect_exception_hook.py")
    (packages / "_bisect_exception_hook.pth").write_text("import _bisect_exception_hook\n")
    return folder / "bin"
