"""The proof that an environment holds the build that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.environments.health import Health
from tests.environments.conftest import Bench
from tests.rig.wheel_maker import make_wheel

# So much of torch as the proof looks at.
TORCH = """
from torch import version
from torch.version import __version__
class Tensor(list):
    def __add__(self, other): return Tensor(a + b for a, b in zip(self, other))
    def sum(self): return Tensor([sum(list(self))])
    def item(self): return self[0]
def ones(count, device): return Tensor([1.0] * count)
"""
VERSION = "__version__ = {version!r}\ngit_version = 'abc123'\ncuda = '13.0'\n"


def stand_in(folder: Path, version: str, *, start: str = "", imported: str | None = None, torch: str = TORCH) -> None:
    modules = {"torch/__init__.py": start + torch, "torch/version.py": VERSION.format(version=imported or version)}
    make_wheel(folder, "torch", version, modules=modules)


def health(bench: Bench, version: str = "2.14.0") -> Health:
    return bench.make(bench.key(bench.build("torch", version))).health


def test_what_torch_says_is_noted(bench: Bench) -> None:
    stand_in(bench.index.folder, "2.14.0")
    found = health(bench)
    assert (found.version, found.revision) == ("2.14.0", "abc123")
    assert {name: found.facts[name] for name in ("version", "git_version", "cuda", "hip")} == {
        "version": "2.14.0",
        "git_version": "abc123",
        "cuda": "13.0",
        "hip": None,
    }


def test_a_local_label_belongs_to_the_version_where_the_index_gives_one(bench: Bench) -> None:
    stand_in(bench.index.folder, "2.14.0", imported="2.14.0+cu130")
    assert health(bench).version == "2.14.0"
    stand_in(bench.index.folder, "2.15.0+cu126", imported="2.15.0+cu130")
    with pytest.raises(BuildUnusable, match=r"torch.__version__ is 2.15.0\+cu130, not 2.15.0\+cu126"):
        health(bench, "2.15.0+cu126")


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("raise ImportError('libcudart.so.13: cannot open shared object file')\n",
         "does not import: ImportError: libcudart.so.13: cannot open shared object file"),
        ("import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.kill(os.getpid(), 11)\n",
         "does not import: ended by signal 11 Fatal Python error: Segmentation fault"),
        ("import sys\nsys.exit(7)\n", "does not import: exit status 7"),
        ("import os\nos._exit(0)\n", "the health check printed something else: ''"),
        ("print('hello')\nimport sys\nprint('x' * 100000, file=sys.stderr)\n1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)  # fmt: skip
def test_a_build_that_does_not_import(bench: Bench, start: str, reason: str) -> None:
    stand_in(bench.index.folder, "2.14.0", start=start)
    with pytest.raises(BuildUnusable) as raised:
        health(bench)
    assert reason in str(raised.value)
    assert list(bench.cache.environments.iterdir()) == []


def test_a_build_that_prints_at_import_and_crashes_at_the_end(bench: Bench) -> None:
    start = "import atexit, os\nprint('welcome', flush=True)\natexit.register(os._exit, 9)\n"
    stand_in(bench.index.folder, "2.14.0", start=start)
    assert health(bench).version == "2.14.0"


def test_a_build_that_reckons_wrong(bench: Bench) -> None:
    stand_in(bench.index.folder, "2.14.0", torch=TORCH.replace("a + b", "a - b"))
    with pytest.raises(BuildUnusable, match="is not 8 on device cpu") as raised:
        health(bench)
    assert raised.value.is_of_host  # another processor may reckon right


def test_a_build_that_calls_itself_something_else(bench: Bench) -> None:
    stand_in(bench.index.folder, "2.14.0", imported="2.13.0")
    with pytest.raises(BuildUnusable, match=r"torch.__version__ is 2.13.0, not 2.14.0"):
        health(bench)


def test_a_module_that_cannot_be_found(bench: Bench) -> None:
    modules = {"toy/__init__.py": "", "first.pth": "import sys; sys.modules['toy'] = None\n"}
    make_wheel(bench.index.folder, "toy", "2.0", modules=modules)
    with pytest.raises(BuildUnusable, match="its module toy cannot be found after installation"):
        bench.make(bench.key(bench.build(version="2.0")))


def test_a_folder_of_shared_libraries_is_no_module(bench: Bench) -> None:
    modules = {"toy/__init__.py": "", "toy.libs/libopenblas-99b71e71.so": "", "data-files/setup.py": ""}
    make_wheel(bench.index.folder, "toy", "2.0", modules=modules)
    assert bench.make(bench.key(bench.build(version="2.0"))).health.version == "2.0"


def test_a_module_that_comes_from_elsewhere(bench: Bench, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "toy").mkdir(parents=True)
    (elsewhere / "toy" / "__init__.py").touch()
    modules = {"toy/__init__.py": "", "first.pth": f"import sys; sys.path.insert(0, {str(elsewhere)!r})\n"}
    make_wheel(bench.index.folder, "toy", "2.0", modules=modules)
    with pytest.raises(BuildUnusable, match=r"its module toy would be imported from .*/elsewhere/toy/__init__.py"):
        bench.make(bench.key(bench.build(version="2.0")))


def test_a_package_without_modules_that_only_brings_others(bench: Bench) -> None:
    make_wheel(bench.index.folder, "bundle", "1.0", modules={}, requires=["toy==1.1"])
    found = bench.make(bench.key(bench.build("bundle"))).health
    assert found.packages == {"bundle": "1.0", "toy": "1.1"}


def test_the_proof_leaves_no_scratch_folders(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    assert list((environment.folder / "scratch").iterdir()) == []


CUDA = """
class cuda:
    get_arch_list = staticmethod(lambda: {architectures!r})
    get_device_capability = staticmethod(lambda index: (7, 0))
    get_device_name = staticmethod(lambda index: "Tesla V100")
class backends:
    class cudnn:
        version = staticmethod(lambda: 91900)
class distributed:
    is_available = staticmethod(lambda: False)
"""


def on_v100(bench: Bench, version: str, architectures: list[str]) -> Health:
    stand_in(bench.index.folder, version, torch=TORCH + CUDA.format(architectures=architectures))
    key = bench.key(bench.build("torch", version))
    with bench.environments().use(
        key, lambda: bench.channel.installation(key.build), device="cuda", as_of=None
    ) as environment:
        return environment.health


@pytest.mark.parametrize(
    "architectures", [["sm_70", "sm_90"], ["sm_60", "compute_60"], [], ["gfx90a"], ["sm_75", "compute_70"]]
)
def test_code_that_the_gpu_can_run(bench: Bench, architectures: list[str]) -> None:
    assert on_v100(bench, "2.14.0", architectures).facts["arch_list"] == architectures


@pytest.mark.parametrize("architectures", [["sm_75", "sm_90", "compute_90"], ["sm_60"]])
def test_code_that_the_gpu_cannot_run_is_no_fault_of_the_build(bench: Bench, architectures: list[str]) -> None:
    reason = f"is built for {', '.join(architectures)}, and this GPU, a Tesla V100, is sm_70"
    with pytest.raises(BuildUnusable, match=reason):
        on_v100(bench, "2.14.0", architectures)
