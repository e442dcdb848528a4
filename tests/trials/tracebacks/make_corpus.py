"""Makes the corpus of real tracebacks again: every bug below, run by the Python of one environment that has torch.

    python make_corpus.py /path/to/env/bin/python            # all bugs
    python make_corpus.py /path/to/env/bin/python recursion  # some

For each bug it writes ``<bug>/<release>.txt`` (standard output and error, merged, as the process printed them) and
``<bug>/<release>.json`` (the exception chain that ``bisect_tool/environments/exception_hook.py`` wrote; none after a signal or
sys.exit), and brings ``corpus.json`` up to date. Paths of this machine are replaced: the standard library is under
``/usr/lib/python3.11/``, the environment under ``/env/``, the script under ``/repro/``, caches and temporary files under
``/scratch/``.

The hook is copied into the environment's site-packages, so use an environment made for this. Everything runs on the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HOOK = ROOT / "bisect_tool" / "environments" / "exception_hook.py"
SPECS = ROOT / "repro_specs"
LIMIT = 40 * 1024
TIMEOUT = 300


@dataclass(frozen=True)
class Bug:
    note: str
    code: str = ""
    spec: str = ""  # instead of code: the repro of this spec
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()  # the releases that fail in this way; empty = every release


BUGS: dict[str, Bug] = {}


def bug(name: str, note: str, code: str = "", **more: object) -> None:
    assert name not in BUGS, name
    BUGS[name] = Bug(note, textwrap.dedent(code).lstrip(), **more)  # type: ignore[arg-type]


# The repros of the specs. A release without the bug passes, and nothing is saved for it.

bug(
    "cumsum-scalar-constant",
    "IndexError in a post-grad pass, wrapped in InductorError.",
    spec="cumsum-scalar-constant",
    args=("--backend", "inductor"),
)
bug(
    "diagonal-scatter-grad",
    "Silent wrong gradient; the script ends itself with sys.exit(sentence).",
    spec="diagonal-scatter-grad",
    args=("--backend", "inductor"),
)
bug(
    "addcdiv-item-loop",
    "Silent wrong result; the script ends itself with sys.exit(sentence that holds numbers).",
    spec="addcdiv-item-loop",
    args=("--backend", "inductor"),
)

SCAN = """
    import torch
    from torch._higher_order_ops.associative_scan import associative_scan

    values = torch.arange(32.0).reshape(4, 8)
    scan = torch.compile(lambda x: associative_scan(lambda a, b: a + b, x, dim=0), dynamic=True)
    print(scan(values))
    """
bug(
    "associative-scan-on-cpu",
    "Scan on a CPU; another error twice: ValueError (2.8), `or XPU` in it (2.10), InductorError (2.14).",
    SCAN,
)

# Eager errors of operators.

bug(
    "matmul-shape-eager",
    "Shapes that do not fit, eager; 2.15.0 puts `mm: ` before the same message.",
    """
    import torch

    def project(x, weight):
        return x @ weight

    project(torch.randn(2, 3), torch.randn(4, 5))
    """,
)
bug(
    "matmul-dtype-eager",
    "Element types that do not fit, eager.",
    """
    import torch

    def project(x, weight):
        return x @ weight

    project(torch.randn(2, 3), torch.randn(3, 5, dtype=torch.float64))
    """,
)
bug(
    "conv-channels",
    "Wrong number of channels in nn.Conv2d: frames in torch/nn.",
    """
    import torch

    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU())
    net(torch.randn(1, 4, 16, 16))
    """,
)
bug(
    "index-out-of-range",
    "IndexError of a tensor index.",
    """
    import torch

    torch.zeros(3)[7]
    """,
)
bug(
    "embedding-index",
    "IndexError out of an embedding: the same type as index-out-of-range, another message.",
    """
    import torch

    table = torch.nn.Embedding(10, 4)
    table(torch.tensor([3, 11]))
    """,
)
bug(
    "target-out-of-bounds",
    "IndexError of a class label.",
    """
    import torch

    torch.nn.functional.cross_entropy(torch.randn(2, 5), torch.tensor([1, 5]))
    """,
)
bug(
    "linalg-singular",
    "torch._C._LinAlgError: a type made in C++.",
    """
    import torch

    torch.linalg.inv(torch.zeros(3, 3))
    """,
)
bug(
    "no-driver",
    "CUDA device asked for where there is none.",
    """
    import torch

    torch.zeros(1, device="cuda")
    """,
)
bug(
    "xpu-not-compiled",
    "AssertionError: the build has no support for the device.",
    """
    import torch

    torch.zeros(1, device="xpu")
    """,
)
bug(
    "meta-copy",
    "NotImplementedError: a meta tensor has no data.",
    """
    import torch

    torch.empty(2, device="meta").cpu()
    """,
)
bug(
    "meta-item",
    ".item() of a meta tensor.",
    """
    import torch

    torch.ones((), device="meta").item()
    """,
)
bug(
    "fake-and-real",
    "Real and fake tensors mixed.",
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    real = torch.randn(3)
    with FakeTensorMode():
        print(torch.randn(3) + real)
    """,
)
bug(
    "attribute-missing",
    "AttributeError of the torch module.",
    """
    import torch

    torch.this_function_never_existed(1)
    """,
)
bug(
    "import-missing",
    "ImportError: the name is not in torch.",
    """
    from torch.nn import ThisLayerNeverExisted

    print(ThisLayerNeverExisted)
    """,
)
bug(
    "state-dict",
    "Multi-line message with one line per problem.",
    """
    import torch

    net = torch.nn.Linear(3, 4)
    net.load_state_dict({"weight": torch.zeros(4, 5), "scale": torch.zeros(1)})
    """,
)
bug(
    "load-weights-only",
    "UnpicklingError raised from None with long advice.",
    """
    import io

    import torch


    class Settings:
        pass


    file = io.BytesIO()
    torch.save(Settings(), file)
    file.seek(0)
    torch.load(file, weights_only=True)
    """,
)
bug(
    "no-process-group",
    "ValueError of torch.distributed before it is started.",
    """
    import torch
    import torch.distributed

    torch.distributed.all_reduce(torch.ones(1))
    """,
)
bug(
    "vmap-item",
    ".item() under vmap.",
    """
    import torch

    torch.vmap(lambda x: x.item() + 1)(torch.arange(3.0))
    """,
)
bug(
    "warning-as-error",
    "A warning of Python code in torch turned into an exception.",
    """
    import warnings

    import torch

    warnings.simplefilter("error")
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scheduler.step()
    """,
)

# Autograd.

bug(
    "autograd-inplace",
    "A saved tensor was changed in place; the message has version numbers, and a node named ExpBackward0 or Exp by release.",
    """
    import torch

    x = torch.randn(4, requires_grad=True)
    y = x.exp()
    y.add_(1)
    y.sum().backward()
    """,
)
bug(
    "leaf-inplace",
    "In-place change of a leaf.",
    """
    import torch

    x = torch.randn(4, requires_grad=True)
    x.add_(1)
    """,
)
bug(
    "backward-twice",
    "The graph was already freed.",
    """
    import torch

    x = torch.randn(4, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    y.backward()
    """,
)
bug(
    "backward-without-grad",
    "Nothing requires a gradient.",
    """
    import torch

    torch.randn(4).sum().backward()
    """,
)
bug(
    "backward-not-scalar",
    "Backward of a vector: a RuntimeError raised in Python code of torch.",
    """
    import torch

    (torch.randn(4, requires_grad=True) * 2).backward()
    """,
)
bug(
    "autograd-function-raises",
    "ValueError in the backward of a user's autograd function, through the C++ engine.",
    """
    import torch


    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no gradient for step 17 at 0x7f00deadbeef")


    Broken.apply(torch.randn(3, requires_grad=True)).sum().backward()
    """,
)
bug(
    "autograd-function-gradients",
    "A user's autograd function returns too many gradients.",
    """
    import torch


    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad, grad


    Broken.apply(torch.randn(3, requires_grad=True)).sum().backward()
    """,
)

# Dynamo.

bug(
    "matmul-shape-compile",
    "The same mistake as matmul-shape-eager, found by Dynamo with fake tensors.",
    """
    import torch

    @torch.compile(backend="eager")
    def project(x, weight):
        return x @ weight

    project(torch.randn(2, 3), torch.randn(4, 5))
    """,
)
bug(
    "matmul-dtype-compile",
    "The same mistake as matmul-dtype-eager, found by Dynamo with fake tensors.",
    """
    import torch

    @torch.compile(backend="eager")
    def project(x, weight):
        return x @ weight

    project(torch.randn(2, 3), torch.randn(3, 5, dtype=torch.float64))
    """,
)
bug(
    "fullgraph-graph-break",
    "Unsupported: an explicit graph break.",
    """
    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def step(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    step(torch.randn(3))
    """,
)
bug(
    "fullgraph-print",
    "Unsupported: print of a tensor.",
    """
    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def step(x):
        print(x)
        return x * 2

    step(torch.randn(3))
    """,
)
bug(
    "fullgraph-builtin",
    "Unsupported: a C function that Dynamo cannot trace.",
    """
    import time

    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def step(x):
        time.sleep(0.001)
        return x * 2

    step(torch.randn(3))
    """,
)
bug(
    "fullgraph-branch",
    "Unsupported: a branch on the values of a tensor.",
    """
    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def step(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    step(torch.randn(3))
    """,
)
bug(
    "recompile-limit",
    "Too many recompilations with fullgraph.",
    """
    import torch

    torch._dynamo.config.recompile_limit = 2
    torch._dynamo.config.cache_size_limit = 2

    @torch.compile(backend="eager", fullgraph=True, dynamic=False)
    def step(x):
        return x * 2

    for size in range(3, 9):
        step(torch.randn(size))
    """,
)
bug(
    "backend-unknown",
    "The name of a backend that does not exist; 2.15.0 words the same message differently (`did you mean`).",
    """
    import torch

    torch.compile(lambda x: x + 1, backend="inductorr")(torch.randn(3))
    """,
)
bug(
    "backend-raises",
    "BackendCompilerFailed out of a user's backend: ValueError.",
    """
    import torch

    def backend(graph, inputs):
        raise ValueError(f"cannot take {len(inputs)} inputs")

    torch.compile(lambda x: x + 1, backend=backend)(torch.randn(3))
    """,
)
bug(
    "backend-key-error",
    "BackendCompilerFailed out of a user's backend: KeyError, a frame deeper.",
    """
    import torch

    KERNELS = {"add": 1}

    def choose(graph):
        return [KERNELS[node.name] for node in graph.graph.nodes]

    def backend(graph, inputs):
        choose(graph)
        return graph.forward

    torch.compile(lambda x: x + 1, backend=backend)(torch.randn(3))
    """,
)
bug(
    "user-error-compiled",
    "A user's ValueError inside a compiled function.",
    """
    import torch

    @torch.compile(backend="eager")
    def step(x):
        if x.shape[0] == 3:
            raise ValueError("three rows are not enough")
        return x * 2

    step(torch.randn(3))
    """,
)

# AOTAutograd and Inductor.

bug(
    "custom-op-without-fake",
    "An operator without a fake implementation under aot_eager.",
    """
    import torch

    @torch.library.custom_op("corpus::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    torch.compile(lambda x: twice(x) + 1, backend="aot_eager", fullgraph=True)(torch.randn(3))
    """,
)
bug(
    "lowering-value-error",
    "LoweringException from a user's lowering: ValueError.",
    """
    import torch
    from torch._inductor.lowering import register_lowering

    @register_lowering(torch.ops.aten.special_bessel_j0.default, type_promotion_kind=None)
    def bessel(x):
        raise ValueError("no code for the Bessel function")

    torch.compile(lambda x: torch.special.bessel_j0(x) + 1)(torch.randn(3))
    """,
)
bug(
    "lowering-assertion",
    "LoweringException from a user's lowering: AssertionError without message.",
    """
    import torch
    from torch._inductor.lowering import register_lowering

    @register_lowering(torch.ops.aten.special_bessel_j0.default, type_promotion_kind=None)
    def bessel(x):
        assert x is None

    torch.compile(lambda x: torch.special.bessel_j0(x) + 1)(torch.randn(3))
    """,
)
bug(
    "lowering-meta",
    "The meta function of a user's operator raises while AOTAutograd traces.",
    """
    import torch

    @torch.library.custom_op("corpus::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x):
        raise KeyError("layout")

    torch.compile(lambda x: twice(x) + 1, fullgraph=True)(torch.randn(3))
    """,
)
bug(
    "inductor-pass-raises",
    "A user's post-grad pass raises: InductorError around RuntimeError.",
    """
    import torch
    from torch._inductor import config
    from torch._inductor.custom_graph_pass import CustomGraphPass

    class Refuse(CustomGraphPass):
        def __call__(self, graph):
            raise RuntimeError(f"refused a graph of {len(graph.nodes)} nodes")

        def uuid(self):
            return "refuse"

    config.post_grad_custom_post_pass = Refuse()
    torch.compile(lambda x: x.sin() + 1)(torch.randn(3))
    """,
)
bug(
    "inductor-bad-option",
    "An option that Inductor does not know.",
    """
    import torch

    torch.compile(lambda x: x + 1, options={"max_autotunes": True})(torch.randn(3))
    """,
)
bug(
    "cxx-missing",
    "No C++ compiler is found.",
    """
    import torch
    from torch._inductor import config

    config.cpp.cxx = ("/nowhere/g++",)
    torch.compile(lambda x: x.sin() + 1)(torch.randn(3))
    """,
)
bug(
    "cxx-fails",
    "CppCompileError: the compiler ends with an error.",
    """
    import os
    import shutil
    import stat
    import tempfile

    folder = tempfile.mkdtemp()
    wrapper = os.path.join(folder, "g++")
    with open(wrapper, "w") as file:
        file.write('#!/bin/sh\\ncase " $* " in *" -o "*) echo "internal compiler error: out of luck" >&2; exit 4;; esac\\n')
        file.write(f'exec {shutil.which("g++")} "$@"\\n')
    os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
    os.environ["CXX"] = wrapper

    import torch

    torch.compile(lambda x: x.sin() + 1)(torch.randn(3))
    """,
)
bug(
    "setuptools-missing",
    "A fresh environment of these releases has no setuptools, which Inductor imports on a CPU: a fault of the environment.",
    """
    import torch

    torch.compile(lambda x: x.sin() + 1)(torch.randn(3))
    """,
    only=("2.9.1", "2.10.0"),
)
bug(
    "compiled-index-out-of-range",
    "Index out of bounds found by code that Inductor wrote for the CPU; the message has a cache path and a line number.",
    """
    import torch

    @torch.compile
    def pick(table, index):
        return table[index] * 2

    pick(torch.randn(8, 4), torch.tensor([1, 9]))
    """,
)

# torch.export.

bug(
    "export-branch",
    "torch.export of a branch on data.",
    """
    import torch


    class Net(torch.nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x * 2
            return x - 1


    torch.export.export(Net(), (torch.randn(3),))
    """,
)
bug(
    "export-dynamic-specialized",
    "A dimension said to be dynamic is made constant by the model.",
    """
    import torch


    class Net(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(4)


    rows = torch.export.Dim("rows", min=2, max=64)
    torch.export.export(Net(), (torch.randn(4),), dynamic_shapes={"x": {0: rows}})
    """,
)
bug(
    "export-input-shape",
    "An exported program called with another shape.",
    """
    import torch


    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2


    program = torch.export.export(Net(), (torch.randn(4),))
    program.module()(torch.randn(5))
    """,
)

# Chains and plain Python.

bug(
    "raise-from",
    "A user's error raised from a KeyError.",
    """
    import torch


    class ConfigError(Exception):
        pass


    def width(settings):
        try:
            return settings["width"]
        except KeyError as error:
            raise ConfigError("the settings have no width") from error


    print(torch.randn(width({"depth": 3})))
    """,
)
bug(
    "raise-from-two",
    "Three errors, each raised from the one before; the deepest is that of matmul-shape-eager.",
    """
    import torch


    class StepError(Exception):
        pass


    def forward():
        return torch.randn(2, 3) @ torch.randn(4, 5)


    def step(number):
        try:
            return forward()
        except RuntimeError as error:
            raise StepError(f"step {number} failed") from error


    try:
        step(12)
    except StepError as error:
        raise SystemError("training ended") from error
    """,
)
bug(
    "during-handling",
    "One error while another is handled (context, not cause).",
    """
    import torch

    results = {}


    def measure(name):
        try:
            return torch.zeros(3)[7]
        except IndexError:
            return results[name]


    measure("latency")
    """,
)
bug(
    "raise-from-none",
    "The context is suppressed by `from None`.",
    """
    import torch

    try:
        torch.zeros(3)[7]
    except IndexError:
        raise LookupError("no such row") from None
    """,
)
bug(
    "exit-message",
    "sys.exit with a sentence.",
    """
    import sys

    import torch

    print("starting")
    sys.exit(f"wrong result: expected 4, got {torch.ones(3).sum().item()}")
    """,
)
bug(
    "exit-code",
    "sys.exit with a number and no text.",
    """
    import sys

    import torch

    print(torch.ones(3).sum())
    sys.exit(3)
    """,
)
ASSERTS = """
    import sys

    import torch


    def check_forward(x):
        y = x * 2
        assert (y == x).all()


    def check_loss(x):
        loss = x.sum()
        assert loss > 100


    {"forward": check_forward, "loss": check_loss}[sys.argv[1]](torch.ones(3))
    """
bug("assert-forward", "AssertionError without message, in check_forward.", ASSERTS, args=("forward",))
bug("assert-loss", "AssertionError without message, in check_loss of the same script.", ASSERTS, args=("loss",))
bug(
    "assert-close",
    "torch.testing.assert_close: a message of several lines with numbers.",
    """
    import torch

    torch.manual_seed(0)
    actual = torch.linspace(0, 1, 16)
    torch.testing.assert_close(actual + 1e-3, actual)
    """,
)
bug(
    "key-error",
    "KeyError.",
    """
    import torch

    net = torch.nn.Linear(2, 2)
    print(net.state_dict()["gain"])
    """,
)
bug(
    "exception-note",
    "An exception with a note (Python 3.11).",
    """
    import torch

    try:
        torch.randn(2, 3).reshape(5, 5)
    except RuntimeError as error:
        error.add_note("while reading batch 41")
        raise
    """,
)
bug(
    "exception-group",
    "An exception group with two members, one of them from torch.",
    """
    import torch

    errors = []
    for work in (lambda: torch.zeros(3)[7], lambda: int("seven")):
        try:
            work()
        except Exception as error:
            errors.append(error)
    raise ExceptionGroup("two checks failed", errors)
    """,
)
bug(
    "recursion",
    "RecursionError.",
    """
    import torch


    def nested(x, depth):
        return nested(x + 1, depth + 1)


    nested(torch.zeros(1), 0)
    """,
)
bug(
    "dataloader-worker",
    "An error in a worker process; the message holds the worker's traceback.",
    """
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            if index == 2:
                raise ValueError(f"row {index} is damaged")
            return torch.zeros(2)


    if __name__ == "__main__":
        for batch in DataLoader(Rows(), num_workers=1, batch_size=1):
            print(batch.shape)
    """,
)
bug(
    "spawned-process",
    "An error in a process of torch.multiprocessing.spawn; the message holds its traceback.",
    """
    import torch
    import torch.multiprocessing


    def work(rank):
        raise ValueError(f"rank {rank} has no data")


    if __name__ == "__main__":
        torch.multiprocessing.spawn(work, nprocs=1)
    """,
)
bug(
    "thread-pool",
    "An error in a thread, raised again by its future.",
    """
    from concurrent.futures import ThreadPoolExecutor

    import torch

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: torch.zeros(3)[7]).result()
    """,
)

# Signals.

bug(
    "segfault",
    "SIGSEGV: a read of address 0, with the report of faulthandler.",
    """
    import ctypes

    import torch


    def read(address):
        return ctypes.string_at(address)


    print(torch.__version__)
    read(0)
    """,
)
bug(
    "segfault-in-backward",
    "SIGSEGV in a hook that the autograd engine calls.",
    """
    import ctypes

    import torch

    x = torch.randn(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: ctypes.string_at(0))
    y.sum().backward()
    """,
)
bug(
    "abort",
    "SIGABRT through os.abort().",
    """
    import os

    import torch

    print(torch.ones(3))
    os.abort()
    """,
)
bug(
    "killed",
    "SIGKILL: no text at all.",
    """
    import os
    import signal

    import torch

    print(torch.ones(3))
    os.kill(os.getpid(), signal.SIGKILL)
    """,
)


def replace_file(path: Path, text: str) -> None:
    """Writes by renaming: files in an environment may be hard links into a cache."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def prepare(python: Path) -> tuple[str, list[tuple[str, str]]]:
    """Installs the hook; the release of torch, and what to replace in texts."""
    code = (
        "import json, sys, sysconfig, importlib.metadata as m; print(json.dumps([m.version('torch'), sys.prefix, "
        "sys.base_prefix, sysconfig.get_path('purelib'), sysconfig.get_path('stdlib')]))"
    )
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd="/").stdout
    release, prefix, base, packages, library = json.loads(found)
    replace_file(Path(packages) / "_bisect_exception_hook.py", HOOK.read_text(encoding="utf-8"))
    replace_file(Path(packages) / "_bisect_exception_hook.pth", "import _bisect_exception_hook\n")
    places = [(library + "/", "/usr/lib/python3.11/"), (prefix + "/", "/env/"), (base + "/", "/usr/")]
    return release.split("+")[0], places


def scrub(text: str, places: list[tuple[str, str]]) -> str:
    for path, name in places:
        text = text.replace(path, name)
        text = text.replace(os.path.realpath(path.rstrip("/")) + "/", name)
    return text


def cap(text: str) -> str:
    data = text.encode()
    if len(data) <= LIMIT:
        return text
    half = LIMIT // 2 - 50
    cut = len(data) - 2 * half
    return data[:half].decode(errors="ignore") + f"\n… {cut} bytes cut …\n" + data[-half:].decode(errors="ignore")


def run_bug(name: str, python: Path, release: str, places: list[tuple[str, str]]) -> dict[str, object] | None:
    entry = BUGS[name]
    scratch = Path(tempfile.mkdtemp(prefix="corpus-"))
    try:
        repro = scratch / "repro"
        repro.mkdir()
        script = repro / "repro.py"
        script.write_text((SPECS / entry.spec / "repro.py").read_text() if entry.spec else entry.code, encoding="utf-8")
        env = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        for key in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME", "TMPDIR", "XDG_CACHE_HOME"):
            env[key] = str(scratch / key.lower())
            Path(env[key]).mkdir()
        errors = scratch / "errors"
        errors.mkdir()
        env |= {"PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": "", "BISECT_DEVICE": "cpu"}
        env |= {"BISECT_EXCEPTIONS": str(errors)} | entry.env
        process = subprocess.Popen(
            [python, str(script), *entry.args],
            cwd=repro,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output = process.communicate(timeout=TIMEOUT)[0].decode(errors="replace")
        code = process.returncode
        if code == 0:
            print(f"{release} {name}: passed, nothing saved")
            return None
        here = [(str(repro) + "/", "/repro/"), (str(scratch) + "/", "/scratch/"), *places]
        text = scrub(output, here)
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        (folder / f"{release}.txt").write_text(cap(text), encoding="utf-8")
        chain = errors / f"{process.pid}.json"
        saved = folder / f"{release}.json"
        saved.unlink(missing_ok=True)
        if chain.exists():
            document = json.loads(scrub(chain.read_text(encoding="utf-8"), here))
            saved.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        signalled = signal.Signals(-code).name if code < 0 else None
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        print(f"{release} {name}: {signalled or code} {'json' if chain.exists() else '-'} | {last[:110]}", flush=True)
        return {
            "bug": name,
            "release": release,
            "exit": code if code >= 0 else None,
            "signal": signalled,
            "note": entry.note,
        }
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def order(entry: dict[str, object]) -> tuple[int, list[int]]:
    names = list(BUGS)
    name = str(entry["bug"])
    return names.index(name) if name in names else len(names), [int(n) for n in str(entry["release"]).split(".")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", type=Path, help="the Python of an environment with torch")
    parser.add_argument("bugs", nargs="*", help="names of bugs; all of them when none is given")
    options = parser.parse_args()
    unknown = [name for name in options.bugs if name not in BUGS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}")
    release, places = prepare(options.python)
    index = HERE / "corpus.json"
    for name in options.bugs or BUGS:
        if BUGS[name].only and release not in BUGS[name].only:
            continue
        made = run_bug(name, options.python, release, places)
        if made is None:
            continue
        entries = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
        entries = [e for e in entries if (e["bug"], e["release"]) != (name, release)]
        entries = sorted([*entries, made], key=order)
        replace_file(index, json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
