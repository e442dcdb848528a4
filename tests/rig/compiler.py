"""A torch with a compiler of a few named passes, and a compiler bisector that behaves as PyTorch's does.

``compiler_files(guilty)`` are files for `NightlyPlan.files`: a stand-in whose pass `guilty` breaks what it compiles, with the
words `ZERO`. Of the real bisector the parts that matter to its users are imitated: state in files below
``$TORCHINDUCTOR_CACHE_DIR/bisect`` (for whoever drives it, in a folder of its own), the order of backends and states, what it
counts, and what it hands back.
"""

from __future__ import annotations

ZERO = "RuntimeError: gradient is all zero"
PASSES = ("remove_noop_ops", "fold_cat", "pointless_view")

_START = """
import os
from torch import version
from torch._tensor import Tensor, ones
from torch import backends, cuda, distributed

__version__ = version.__version__
PASSES = {passes!r}
GUILTY = {guilty!r}


def compile(model, backend="inductor", disable=False, dynamic=None, mode=None, options=None):
    from torch._inductor.compiler_bisector import CompilerBisector

    if disable:
        return model
    backend = CompilerBisector.get_backend() or backend

    def compiled(*args):
        applied = list(_applied(CompilerBisector)) if backend == "inductor" else []
        _log("graph_code", ["def forward(self):"])
        _log("output_code", [f"kernel_{{name}}()" for name in applied])
        if GUILTY in applied:
            raise RuntimeError("gradient is all zero")
        return model(*args)

    return compiled


def _applied(bisector):
    for name in PASSES:
        if not bisector.disable_subsystem("inductor", "post_grad_passes", lambda: name):
            yield name


def _log(artifact, lines):
    if artifact in os.environ.get("TORCH_LOGS", ""):
        with open(os.environ["TORCH_LOGS_OUT"], "a") as file:
            for line in lines:
                file.write(f"V1130 11:40:00.1 1 torch/a.py:1] [0/0] [__{{artifact}}] {{line}}\\n")
"""
_BISECTOR = """
import collections, os, tempfile
from dataclasses import dataclass

BACKENDS = {"eager": [], "aot_eager": [], "aot_eager_decomp_partition": [], "inductor": ["lowerings", "post_grad_passes"]}
counts = collections.Counter()


@dataclass
class BisectionResult:
    backend: str
    subsystem: str = None
    bisect_number: int = None
    debug_info: str = None


class CompilerBisector:
    in_process_cache = None

    @classmethod
    def get_dir(cls):
        return (cls.in_process_cache or os.environ["TORCHINDUCTOR_CACHE_DIR"]) + "/bisect"

    @classmethod
    def _file(cls, name):
        return os.path.join(cls.get_dir(), name)

    @classmethod
    def _write(cls, name, text):
        os.makedirs(os.path.dirname(cls._file(name)), exist_ok=True)
        with open(cls._file(name), "w") as file:
            file.write(text)

    @classmethod
    def _read(cls, name):
        try:
            with open(cls._file(name)) as file:
                return dict(line.strip().split("=") for line in file)
        except FileNotFoundError:
            return {}

    @classmethod
    def get_backend(cls):
        return cls._read("bisect_status.txt").get("backend")

    @classmethod
    def get_subsystem(cls):
        return cls._read("bisect_status.txt").get("subsystem") or None

    @classmethod
    def get_run_state(cls, backend, subsystem):
        return cls._read(f"{backend}/{subsystem}_run_state.txt").get("state")

    @classmethod
    def get_bisect_range(cls, backend, subsystem):
        found = cls._read(f"{backend}/{subsystem}_bisect_range.txt")
        return int(found["low"]), int(found["high"])

    @classmethod
    def disable_subsystem(cls, backend, subsystem, debug_info=None):
        if cls.get_backend() != backend or cls.get_subsystem() != subsystem:
            return False
        number = counts[subsystem]
        counts[subsystem] += 1
        state = cls.get_run_state(backend, subsystem)
        if state == "find_max_bounds":
            cls._write(f"{backend}/{subsystem}_bisect_range.txt", f"low=0\\nhigh={number}\\n")
        if state == "bisect":
            return number > sum(cls.get_bisect_range(backend, subsystem)) // 2
        return state == "test_disable"

    @classmethod
    def do_bisect(cls, fn, cli_interface=False):
        cls.in_process_cache = tempfile.mkdtemp()
        for backend, subsystems in BACKENDS.items():
            cls._write("bisect_status.txt", f"backend={backend}\\nsubsystem=\\n")
            if fn():
                continue
            for subsystem in subsystems:
                cls._write("bisect_status.txt", f"backend={backend}\\nsubsystem={subsystem}\\n")
                cls._write(f"{backend}/{subsystem}_run_state.txt", "state=test_disable\\n")
                if fn():
                    return BisectionResult(backend, subsystem, cls._narrow(fn, backend, subsystem), None)
            return BisectionResult(backend)
        return None

    @classmethod
    def _narrow(cls, fn, backend, subsystem):
        cls._write(f"{backend}/{subsystem}_run_state.txt", "state=find_max_bounds\\n")
        if fn():
            raise RuntimeError("Function succeeded with 'find_max_bounds' status")
        cls._write(f"{backend}/{subsystem}_run_state.txt", "state=bisect\\n")
        low, high = cls.get_bisect_range(backend, subsystem)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if fn() else (low, middle)
            cls._write(f"{backend}/{subsystem}_bisect_range.txt", f"low={low}\\nhigh={high}\\n")
        return low
"""


def compiler_files(guilty: str | None) -> dict[str, str]:
    """The files of a torch whose pass `guilty` is wrong (None: all are right)."""
    return {
        "torch/__init__.py": _START.format(passes=PASSES, guilty=guilty).lstrip(),
        "torch/_inductor/__init__.py": "",
        "torch/_inductor/fx_passes.py": "".join(f"def {name}(): ...\n" for name in PASSES),
        "torch/_inductor/compiler_bisector.py": _BISECTOR.lstrip(),
    }
