"""The source of a toy package, as it lies in a repository: uv builds a wheel of it without any other package."""

from __future__ import annotations

from collections.abc import Mapping

from tests.rig.toy import Planted, ToyBuild, toy_modules

_PYPROJECT = """\
[build-system]
requires = []
build-backend = "toy_backend"
backend-path = ["."]
"""
_BACKEND = '''\
"""Zips the folder of the package; told to `break`, it fails as a build does."""
import pathlib
import zipfile

NAME, VERSION, BREAKS = {name!r}, {version!r}, {breaks!r}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if BREAKS:
        raise SystemExit(BREAKS)
    wheel, info = f"{{NAME}}-{{VERSION}}-py3-none-any.whl", f"{{NAME}}-{{VERSION}}.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w") as archive:
        names = [path.as_posix() for path in sorted(pathlib.Path(NAME).rglob("*.py"))]
        for name in names:
            archive.write(name)
        archive.writestr(f"{{info}}/METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: {{VERSION}}\\n")
        archive.writestr(f"{{info}}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        own = [*names, *(f"{{info}}/{{name}}" for name in ("METADATA", "WHEEL", "RECORD"))]
        archive.writestr(f"{{info}}/RECORD", "".join(f"{{name}},,\\n" for name in own))
    return wheel
'''


def toy_source(
    behaviour: Mapping[str, Planted] | None = None, *, version: str = "1.0", name: str = "toy", breaks: str = ""
) -> dict[str, str]:
    """Every file of a commit's tree; `breaks` is what the build prints when it fails."""
    return {
        "pyproject.toml": _PYPROJECT,
        "toy_backend.py": _BACKEND.format(name=name, version=version, breaks=breaks),
        **toy_modules(ToyBuild(version, behaviour or {}), name),
    }
