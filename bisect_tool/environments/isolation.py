"""The variables that a process of a build sees: a short list of what it may know, and places of its own for every cache."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

# What a process needs to find its tools, its language and its GPU, and nothing that could carry a secret or another
# installation (PYTHONPATH, LD_LIBRARY_PATH, tokens, uv's and pip's settings are left out by not being named).
PASSED = re.compile(
    r"^(LANG|LANGUAGE|LC_\w+|TZ|TERM|USER|LOGNAME|SHELL|CC|CXX|CUDA_HOME|CUDA_PATH|ROCM_HOME|SSL_CERT_(FILE|DIR)|"
    r"CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_\w+|OMP_NUM_THREADS|MKL_NUM_THREADS|OPENBLAS_\w+|NVPL_\w+)$"
)

# One folder each: two builds, or two trials of one build, must not find what the other compiled.
CACHES: Mapping[str, str] = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "TRITON_HOME": "triton-home",
    "TMPDIR": "tmp",
    "XDG_CACHE_HOME": "xdg-cache",
    "XDG_CONFIG_HOME": "xdg-config",
    "CUDA_CACHE_PATH": "cuda",
    "TORCH_EXTENSIONS_DIR": "extensions",
    "NUMBA_CACHE_DIR": "numba",
    "HOME": "home",
}

# Those with what a process compiles, which a later one can find: what `share_caches` in a spec lets trials share.
COMPILED = frozenset(CACHES) - {"TMPDIR", "XDG_CONFIG_HOME", "HOME"}


def isolated_environment(
    environ: Mapping[str, str],
    *,
    scratch: Path,
    programs: Path,
    device: str,
    extra: Mapping[str, str] | None = None,
    shared: Path | None = None,
) -> dict[str, str]:
    """The variables for a process whose caches lie under `scratch` and whose Python lies in `programs`.

    On the device `cpu` no GPU is visible. `extra` comes last. What it compiles goes to `shared`, if that is given. The folders
    are made here.
    """
    passed = {key: value for key, value in environ.items() if PASSED.match(key)}
    own = {name: str(folder) for name, folder in _places(scratch, shared).items()}
    for folder in own_folders(scratch, shared):
        folder.mkdir(parents=True, exist_ok=True)
    fixed = {
        "PATH": f"{programs}:{environ.get('PATH', '/usr/local/bin:/usr/bin:/bin')}",
        "VIRTUAL_ENV": str(programs.parent),
        "PYTHONNOUSERSITE": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",  # keeps standard output and error in the order in which they were printed
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "BISECT_DEVICE": device,
    }
    blind = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    return passed | own | fixed | blind | dict(extra or {})


def own_folders(scratch: Path, shared: Path | None = None) -> tuple[Path, ...]:
    """The folders that `isolated_environment` makes."""
    return tuple(_places(scratch, shared).values())


def _places(scratch: Path, shared: Path | None) -> dict[str, Path]:
    return {
        name: (shared if shared is not None and name in COMPILED else scratch) / folder
        for name, folder in CACHES.items()
    }
