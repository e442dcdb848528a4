"""Which files of torch belong to its binaries, and which to its Python part. Pure; measured in `docs/commits.md`.

The Python part is what another build's binaries can be run with: everything but shared libraries, headers, programs, and what
is generated while the binaries are built.
"""

from __future__ import annotations

# Parts of `torch/` that hold no Python of the package: binaries, headers, programs, data for CMake, C++ tests.
_OF_BINARIES = frozenset({"lib", "bin", "include", "share", "test"})
_LIBRARY = (".so", ".pyd", ".dylib", ".a")
# What is made while torch is built: it says which operators and which version the binaries are.
GENERATED = ("torch/version.py", "torch/testing/_internal/generated/", "torchgen/packaged/")
STUB = ".pyi"


def is_of_binaries(parts: tuple[str, ...]) -> bool:
    """Whether a path inside site-packages belongs to the binaries of a package."""
    in_torch = parts[0] == "torch" and parts[1:2] != () and parts[1] in _OF_BINARIES
    return in_torch or (len(parts) > 1 and is_library(parts[-1]))


def is_generated(name: str) -> bool:
    """Whether a file, by its path with slashes, is made together with the binaries."""
    return name.startswith(GENERATED) or name.endswith(STUB)


def is_python_part(name: str, folders: tuple[str, ...]) -> bool:
    """Whether a file of a wheel, by its path with slashes, is laid over the binaries of another one.

    `folders` are the top folders of the package. Paths that lead elsewhere are none.
    """
    parts = tuple(name.split("/"))
    is_plain = all(part not in {"", ".", ".."} for part in parts)
    return is_plain and len(parts) > 1 and parts[0] in folders and not is_of_binaries(parts) and not is_generated(name)


def is_library(name: str) -> bool:
    """Whether a file is a library, by its name."""
    return name.endswith(_LIBRARY) or ".so." in name
