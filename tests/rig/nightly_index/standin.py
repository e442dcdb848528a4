"""The tiny torch of a nightly: it imports, says what it is, passes the tool's health check and behaves as planned."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import date
from functools import lru_cache

from tests.rig.nightly_index import eras, requirements
from tests.rig.nightly_index.archive import STORED, Archive, ArchivePlan, Member, Zeros, deflated
from tests.rig.nightly_index.bodies import Body, BytesBody
from tests.rig.nightly_index.catalogue import Wheel
from tests.rig.nightly_index.plan import Cut, NightlyPlan
from tests.rig.toy import Planted, ToyBuild, toy_modules
from tests.rig.wheel_maker import WheelFault, metadata_text, wheel_content, wheel_members

LIBRARY = "torch/lib/libtorch_cpu.so"
_VERSION = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'rocm', 'xpu']
__version__ = {version!r}
debug = False
cuda: Optional[str] = {cuda!r}
git_version = {revision!r}
hip: Optional[str] = {hip!r}
rocm: Optional[str] = {hip!r}
xpu: Optional[str] = {xpu!r}
"""
_TENSORS = '''
"""So much of tensors that a health check can see 4 x (1 + 1) = 8."""


class Tensor:
    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __add__(self, other):
        return Tensor(a + b for a, b in zip(self.numbers, other.numbers))

    def sum(self):
        return Tensor([sum(self.numbers)])

    def item(self):
        return float(self.numbers[0])


def ones(count, device="cpu"):
    return Tensor([1.0] * count)
'''
_CUDA = '''
"""A device that is there in every build for CUDA or ROCm."""

from torch import version


def is_available():
    return version.cuda is not None or version.hip is not None


def device_count():
    return int(is_available())


def get_device_name(device=None):
    return "device of the rig"


def get_device_capability(device=None):
    return (9, 0)


def get_arch_list():
    return list({architectures!r})
'''


def torch_modules(
    version: str, variant: str, day: date, revision: str, behaviour: dict[str, Planted], note: str = ""
) -> dict[str, str]:
    """The files of a stand-in; `note` is a comment in version.py that makes it differ from its twins."""
    modules = toy_modules(ToyBuild(version, behaviour), "torch")
    start = modules["torch/__init__.py"].replace(f"__version__ = {version!r}\n", "__version__ = version.__version__\n")
    modules["torch/__init__.py"] = start + (
        "from torch._tensor import Tensor, ones\nfrom torch import backends, cuda, distributed\n"
    )
    hip = variant.removeprefix("rocm") if variant.startswith("rocm") else None
    xpu = "20260000" if variant == "xpu" else None
    cuda = eras.cuda_version(variant)
    modules["torch/version.py"] = _VERSION.format(version=version, cuda=cuda, revision=revision, hip=hip, xpu=xpu)
    modules["torch/version.py"] += f"# {note}\n" if note else ""
    modules["torch/_tensor.py"] = _TENSORS.lstrip()
    modules["torch/cuda.py"] = _CUDA.lstrip().replace("{architectures!r}", repr(eras.architectures(variant, day)))
    modules["torch/backends.py"] = "class cudnn:\n    version = staticmethod(lambda: None)\n"
    modules["torch/distributed.py"] = "def is_available():\n    return False\n"
    modules["torchgen/__init__.py"] = modules["functorch/__init__.py"] = ""
    return modules


def metadata(plan: NightlyPlan, wheel: Wheel, broken: frozenset[WheelFault]) -> str:
    """METADATA of any wheel of the index."""
    version = "0.0.0" if WheelFault.OTHER_VERSION_INSIDE in broken else wheel.version
    needs = () if plan.bare else requirements.of(wheel, plan.seed)
    return metadata_text(wheel.package.replace("_", "-"), version, needs, requirements.python_of(wheel))


def torch_body(
    plan: NightlyPlan,
    wheel: Wheel,
    *,
    cut: Cut,
    behaviour: dict[str, Planted],
    broken: frozenset[WheelFault],
    note: str,
) -> Body:
    """A torch wheel; the same bytes every time."""
    modules = torch_modules(wheel.version, wheel.folder, wheel.day, cut.nightly, behaviour, note)
    modules |= plan.files.get(wheel.day, {})
    text = metadata(plan, wheel, broken)
    if plan.ballast:
        members = wheel_members("torch", wheel.version, modules=modules, metadata=text, tag=wheel.tag, broken=broken)
        return _ballasted(members, plan.ballast)
    return BytesBody(
        wheel_content("torch", wheel.version, modules=modules, metadata=text, tag=wheel.tag, broken=broken)
    )


def _ballasted(members: Mapping[str, str], size: int) -> Archive:
    """The files and a library of zeros in the order of real wheels: modules, libraries, description."""
    zeros = _zeros(size)
    digest = base64.urlsafe_b64encode(zeros.sha256).rstrip(b"=").decode()
    plan = ArchivePlan()
    modules = [name for name in members if ".dist-info/" not in name]
    for name in modules:
        plan.add(*deflated(name, members[name].encode()))
    plan.add(Member(LIBRARY, zeros.crc, size, size, method=STORED), zeros)
    for name in [name for name in members if name not in modules]:
        told = f"{LIBRARY},sha256={digest},{size}\n" if name.endswith("/RECORD") else ""
        plan.add(*deflated(name, (told + members[name]).encode()))
    return plan.finish()


@lru_cache(maxsize=8)
def _zeros(size: int) -> Zeros:
    return Zeros(size)


def other_body(plan: NightlyPlan, wheel: Wheel, broken: frozenset[WheelFault], note: str) -> Body:
    """A wheel of another package."""
    module = "triton" if "triton" in wheel.package else wheel.package
    modules = {f"{module}/__init__.py": f"__version__ = {wheel.version!r}\n" + (f"# {note}\n" if note else "")}
    text = metadata(plan, wheel, broken)
    return BytesBody(
        wheel_content(wheel.package, wheel.version, modules=modules, metadata=text, tag=wheel.tag, broken=broken)
    )
