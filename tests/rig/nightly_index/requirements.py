"""What a wheel of the index requires, like its time did (sections 3.1 and 3.2 of the facts page)."""

from __future__ import annotations

from datetime import date

from tests.rig.nightly_index import eras, triton_pins
from tests.rig.nightly_index.catalogue import Wheel

_CUDA_12 = ("nvidia-cublas-cu12==12.6.4.1", "nvidia-cudnn-cu12==9.5.1.17", "nvidia-nccl-cu12==2.21.5")
_CUDA_13 = ("nvidia-cudnn-cu13==9.15.1.9", "nvidia-nccl-cu13==2.27.7", "nvidia-nvshmem-cu13==3.4.5")
_X86 = 'platform_system == "Linux" and platform_machine == "x86_64"'
_TOOLKIT = {
    "cu126": "12.6.3",
    "cu128": "12.8.1",
    "cu129": "12.9.1",
    "cu130": "13.0.3",
    "cu132": "13.2.1",
    "cu134": "13.4.0",
}


def of(wheel: Wheel, seed: int) -> tuple[str, ...]:
    """Its Requires-Dist lines."""
    if wheel.package == "torchvision":
        return ("numpy", f"torch=={_torch_before(wheel, seed)}", "pillow!=8.3.*,>=5.3.0")
    if wheel.package == "sympy":
        return ("mpmath<1.4,>=1.1.0",)
    if wheel.package != "torch":
        return ()
    version = wheel.listed_version
    triton = triton_pins.requirement(wheel.day, wheel.folder, version, seed)
    return (*pure(version), *_libraries(wheel, version), *((triton,) if triton else ()))


def python_of(wheel: Wheel) -> str | None:
    """Its Requires-Python."""
    if wheel.package != "torch":
        return None
    oldest = next(python for python, window in eras.PYTHONS.items() if window.has(wheel.day))
    return f">=3.{oldest.removeprefix('cp3')}"


def _torch_before(wheel: Wheel, seed: int) -> str:
    """Domains are built from the torch of the day before (section 4.4, PT#154687)."""
    day = max(eras.EARLIEST, date.fromordinal(wheel.day.toordinal() - 1))
    return f"{eras.base_version(day, seed)}.dev{day:%Y%m%d}"


def pure(version: str) -> tuple[str, ...]:
    """What every torch of that base version requires."""
    minor = eras.minor(version)
    sympy = "sympy" if minor < 5 else "sympy==1.13.1" if minor < 7 else "sympy>=1.13.3"
    always = ("filelock", "typing-extensions>=4.10.0", sympy, "networkx", "jinja2", "fsspec")
    if minor < 5:
        return always
    if minor < 11:
        return (*always, 'setuptools; python_version >= "3.12"')
    return (*always, "setuptools<82" if minor < 13 else "setuptools>=77.0.3")


def _libraries(wheel: Wheel, version: str) -> tuple[str, ...]:
    variant = wheel.folder
    if not variant.startswith("cu") or variant < "cu121":
        return ()
    pins = _CUDA_12 if variant < "cu130" else _CUDA_13
    if eras.minor(version) < 11:
        return tuple(f"{pin}; {_X86}" for pin in pins)
    toolkit = f"cuda-toolkit=={_TOOLKIT[variant]}"
    return tuple(f'{pin}; platform_system == "Linux"' for pin in (toolkit, *pins))
