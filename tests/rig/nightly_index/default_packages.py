"""The index for everything else: what torch requires, as empty wheels with the upload times of the real releases.

It also holds what a careless installation falls for: a triton without ``+git``, and the releases of torch (`releases`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.rig.wheel_maker import make_wheel

# (distribution, version, uploaded, requirements); days are about those of the real uploads.
_RELEASES: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("filelock", "3.9.0", 20230102, ()),
    ("filelock", "3.20.0", 20251008, ()),
    ("typing-extensions", "4.12.2", 20240607, ()),
    ("typing-extensions", "4.10.0", 20240225, ()),
    ("typing-extensions", "4.15.0", 20250825, ()),
    ("setuptools", "65.5.0", 20221014, ()),
    ("setuptools", "75.8.0", 20250108, ()),
    ("setuptools", "80.9.0", 20250527, ()),
    ("sympy", "1.12", 20230510, ("mpmath>=0.19",)),
    ("sympy", "1.13.1", 20240719, ("mpmath<1.4,>=1.1.0",)),
    ("sympy", "1.13.3", 20240918, ("mpmath<1.4,>=1.1.0",)),
    ("sympy", "1.14.0", 20250427, ("mpmath<1.4,>=1.1.0",)),
    ("mpmath", "1.3.0", 20230307, ()),
    ("networkx", "3.1", 20230404, ()),
    ("networkx", "3.4.2", 20241021, ()),
    ("jinja2", "3.1.2", 20220428, ("MarkupSafe>=2.0",)),
    ("jinja2", "3.1.6", 20250305, ("MarkupSafe>=2.0",)),
    ("markupsafe", "2.1.2", 20230117, ()),
    ("markupsafe", "3.0.2", 20241018, ()),
    ("fsspec", "2023.1.0", 20230119, ()),
    ("fsspec", "2025.9.0", 20250902, ()),
    ("pillow", "10.0.0", 20230701, ()),
    ("pillow", "11.3.0", 20250701, ()),
    ("numpy", "1.24.4", 20230626, ()),
    ("numpy", "1.26.4", 20240205, ()),
    ("numpy", "2.0.0", 20240616, ()),
    ("numpy", "2.3.3", 20250909, ()),
    ("nvidia-cublas-cu12", "12.6.4.1", 20241023, ()),
    ("nvidia-cudnn-cu12", "9.5.1.17", 20241025, ()),
    ("nvidia-nccl-cu12", "2.21.5", 20240409, ()),
    ("nvidia-cudnn-cu13", "9.15.1.9", 20250820, ()),
    ("nvidia-nccl-cu13", "2.27.7", 20250806, ()),
    ("nvidia-nvshmem-cu13", "3.4.5", 20250820, ()),
    ("cuda-toolkit", "12.6.3", 20241115, ()),
    ("cuda-toolkit", "12.8.1", 20250310, ()),
    ("cuda-toolkit", "12.9.1", 20250610, ()),
    ("cuda-toolkit", "13.0.3", 20251120, ()),
    ("cuda-toolkit", "13.2.1", 20260320, ()),
    ("cuda-toolkit", "13.4.0", 20260801, ()),
    ("triton", "2.1.0", 20230901, ()),
    ("triton", "2.2.0", 20240110, ()),
    ("triton", "2.3.0", 20240424, ()),
    ("triton", "3.0.0", 20240718, ()),
    ("triton", "3.1.0", 20241014, ()),
    ("triton", "3.2.0", 20250122, ()),
    ("triton", "3.3.1", 20250529, ()),
    ("triton", "3.4.0", 20250730, ()),
    ("triton", "3.5.1", 20251111, ()),
    ("triton", "3.6.0", 20260120, ()),
    ("triton", "3.7.1", 20260520, ()),
    ("triton", "3.8.0", 20260920, ()),
)
# Packages whose page in the nightly index is a page of links to elsewhere (section 1.1); sympy lies at the root.
LINKED = frozenset(name for name, *_ in _RELEASES) - {"triton", "sympy"}


def make(folder: Path) -> None:
    """Put the wheels into a folder for `tests.rig.index.serve`."""
    for name, version, day, requires in _RELEASES:
        module = name.replace("-", "_")
        uploaded = datetime(day // 10000, day // 100 % 100, day % 100, 12, tzinfo=UTC)
        modules = {f"{module}/__init__.py": f"__version__ = {version!r}\n"}
        make_wheel(folder, name, version, modules=modules, requires=requires, uploaded=uploaded)
