from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bisect_tool.environments.interpreter import packages_digest


def environment(folder: Path, *packages: str) -> Path:
    """An environment that holds nothing but the metadata of these packages (`name==version`)."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name, version in (package.split("==") for package in packages):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder / "bin" / "python"


def test_the_same_packages_are_the_same_wherever_they_lie(tmp_path: Path) -> None:
    one, other, updated = (
        packages_digest(environment(tmp_path / name, "toy==1.0", package))
        for name, package in (("a", "b==2"), ("elsewhere", "b==2"), ("c", "b==3"))
    )
    assert one == other != updated
