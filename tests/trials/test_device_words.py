"""What CUDA, Triton and ptxas print, from several releases, and that the same failure is the same however it was noticed.

The forms of torch 2.11 and Triton 3.6 were seen on an H200 (`tests/gpu/repros/`), older ones in reports on GitHub.
"""

from __future__ import annotations

import signal

import pytest

from bisect_tool.trials.device_words import is_late
from bisect_tool.trials.failure import CannotJudge, Failed, FoundFailure
from bisect_tool.trials.judge import judge
from bisect_tool.trials.observation import Observation

_INCORRECT = "the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1"
_LATER = "CUDA kernel errors might be asynchronously reported at some other API call,"
ADVICE_1_9 = f"{_LATER}so {_INCORRECT}.\n"
ADVICE_2_1 = f"{_LATER} so {_INCORRECT}\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n"
ADVICE_2_9 = (
    "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for "
    "more information.\n" + ADVICE_2_1
)
ILLEGAL = "an illegal memory access was encountered"
PTXAS = "triton.runtime.errors.PTXASError"
ASSERTED = "device-side assert triggered"
STACK = """Exception raised from c10_cuda_check_implementation at /pytorch/c10/CUDAException.cpp:42 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f581a0b9446 in /x/torch/lib/libc10.so)
frame #1: <unknown function> + 0xe4271b (0x7f57cfca071b in /x/torch/lib/libtorch_cuda.so)
"""


def raised(kind: str, message: str, *, at: str = "repro.py", printed: str = "") -> str:
    frame = f'  File "/t/1/repro/{at}", line 7, in main\n    f(x)\n'
    return f"{printed}Traceback (most recent call last):\n{frame}{kind}: {message}"


def asserts(file: str, line: int, blocks: int, said: str, *, quote: str = "`") -> str:
    return "".join(
        f"{file}:{line}: operator(): block: [{block},0,0], thread: [{thread},0,0] Assertion {quote}{said}{quote} failed.\n"
        for block in range(blocks)
        for thread in (3 + blocks, 17)
    )


def failure_of(output: str, number: int | None = None, status: int | None = 1) -> FoundFailure:
    verdict = judge(Observation(None if number else status, number, output=output), [])
    assert isinstance(verdict, Failed)
    (failure,) = verdict.failures
    return failure


SAME = {
    "illegal access": (
        raised("RuntimeError", f"CUDA error: {ILLEGAL}\n{ADVICE_1_9}"),
        raised("RuntimeError", f"CUDA error: {ILLEGAL}\n{ADVICE_2_1}"),
        raised("torch.AcceleratorError", f"CUDA error: {ILLEGAL}\n{ADVICE_2_9}", at="other.py"),
        raised("torch.AcceleratorError", f"CUDA error: {ILLEGAL}\n{ADVICE_2_9}{STACK}"),
        raised("RuntimeError", f"Triton Error [CUDA]: {ILLEGAL}\n"),
        raised("RuntimeError", f"CUDA driver error: {ILLEGAL}\n"),
        raised("RuntimeError", f"cuda runtime error (700) : {ILLEGAL}\n"),
    ),
    "misaligned address": (
        raised("RuntimeError", "Triton Error [CUDA]: misaligned address\n"),
        raised("torch.AcceleratorError", f"CUDA error: misaligned address\n{ADVICE_2_9}"),
    ),
    "launch failure": (
        raised("RuntimeError", f"CUDA error: unspecified launch failure\n{ADVICE_2_1}"),
        raised("torch.AcceleratorError", f"CUDA error: unspecified launch failure\n{ADVICE_2_9}"),
    ),
    "index out of bounds": (
        raised(
            "RuntimeError", f"CUDA error: {ASSERTED}\n{ADVICE_1_9}",
            printed=asserts("/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu", 142, 1,
                            'index >= -sizes[i] && index < sizes[i] && "index out of bounds"'),
        ),
        raised(
            "RuntimeError", f"CUDA error: {ASSERTED}\n{ADVICE_2_1}",
            printed=asserts("../aten/src/ATen/native/cuda/IndexKernel.cu", 92, 3,
                            '-sizes[i] <= index && index < sizes[i] && "index out of bounds"'),
        ),
        raised(
            "torch.AcceleratorError", f"CUDA error: {ASSERTED}\n{ADVICE_2_9}",
            printed=asserts("/pytorch/aten/src/ATen/native/cuda/IndexKernelUtils.cu", 16, 2,
                            'ind >=0 && ind < ind_dim_size && "index out of bounds"', quote=""),
        ),
    ),
    "a bound that Inductor checks": tuple(
        raised(
            kind, f"CUDA error: {ASSERTED}\n{advice}",
            printed=f"/tmp/torchinductor_root/{folder}.py:{line}: unknown: block: [{block},0,0], thread: [4,0,0] "
            f"Assertion `index out of bounds: 0 <= tmp{number} < {bound}` failed.\n",
        )
        for kind, advice, folder, line, block, number, bound in (
            ("RuntimeError", ADVICE_2_1, "ab/cabcdefg", 28, 0, 4, 10),
            ("torch.AcceleratorError", ADVICE_2_9, "xy/cqrstuvw", 31, 7, 12, 12),
        )
    ),
    "a class that is too large": (
        raised(
            "RuntimeError", f"CUDA error: {ASSERTED}\n{ADVICE_2_1}",
            printed=asserts("../aten/src/ATen/native/cuda/Loss.cu", 250, 1, "t >= 0 && t < n_classes"),
        ),
    ),
    "ptxas": tuple(
        raised(kind, f"{first}\n`ptxas` stderr:\n{info}ptxas /tmp/{name}.ptx, line {line}; error   : Illegal vector size: 8\n"
               f"ptxas fatal   : Ptx assembly aborted due to errors\n\nRepro command: /x/bin/ptxas -lineinfo -v "
               f"--gpu-name=sm_90a /tmp/{name}.ptx -o /tmp/{name}.ptx.o\n")
        for kind, first, info, name, line in (
            (PTXAS, "PTXAS error: Internal Triton PTX codegen error", "", "tmpab12cd34", 81),
            (PTXAS, "PTXAS error: `ptxas` failed with error code 4294967295", "", "tmpzz_9y8x7", 9),
            (PTXAS, "PTXAS error: Internal Triton PTX codegen error", "ptxas info    : 11 bytes\n", "tmpq1w2e3r4", 90),
        )
    ),
    "a pass of Triton": tuple(
        raised(
            "RuntimeError", "PassManager::run failed\n",
            printed=f"{place}: error: 'ttng.tmem_load' op operand #0 must be tensor memory\n"
            "/t/1/repro/repro.py:12:0: error: Failures have been detected while processing an MLIR pass pipeline\n",
        )
        for place in ("/t/1/repro/repro.py:17:24", "/t/2/repro/repro.py:19:24", 'loc("/t/3/repro/repro.py":17:24)')
    ),
    "resources": tuple(
        raised(
            "triton.runtime.errors.OutOfResources", f"out of resource: shared memory, Required: {needed}, Hardware limit: "
            f"{limit}. Reducing block sizes or `num_stages` may help.\n",
        )
        for needed, limit in ((262144, 232448), (327680, 101376))
    ),
    "NaN": tuple(f"step 3\noutput has NaN in {count} of 1024 places\n" for count in (1, 17)),
    "mismatch": tuple(
        raised(
            "AssertionError", f"Tensor-likes are not close!\n\nMismatched elements: {count} / 4096 ({count / 40.96:.1f}%)\n"
            f"Greatest absolute difference: {by} at index ({count}, 0) (up to 1e-05 allowed)\n"
            f"Greatest relative difference: {by} at index ({count}, 0) (up to 1.3e-06 allowed)\n",
        )
        for count, by in ((1, 0.25), (77, 1.5))
    ),
    "results that differ": tuple(
        f"results differ between two runs: {first:#x} and {first + 77:#x}, {first % 91} elements\n"
        for first in (0x7F581A0B, 0x1234ABCD)
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME)
def test_one_failure_however_it_is_printed(kind: str) -> None:
    assert len({failure_of(output).id for output in SAME[kind]}) == 1


def test_different_failures_are_told_apart() -> None:
    assert len({failure_of(outputs[0]).id for outputs in SAME.values()}) == len(SAME)


def test_what_a_kernel_said_is_in_the_title() -> None:
    assert failure_of(SAME["index out of bounds"][2]).signature.title == (
        "AcceleratorError: CUDA error: device-side assert triggered: index out of bounds"
    )
    assert failure_of(SAME["ptxas"][0]).signature.title == "PTXASError: Illegal vector size: 8"


@pytest.mark.parametrize(
    "words",
    ["sm_90", "Search for", "asynchronously", "TORCH_USE_CUDA_DSA", "LAUNCH_BLOCKING", "/tmp", "tmpab12cd34", "0x7f", "thread:",
     "block:", "num_stages"],
)  # fmt: skip
def test_what_never_enters_an_identity(words: str) -> None:
    messages = [failure_of(output).signature.message for outputs in SAME.values() for output in outputs]
    assert not [message for message in messages if words in message]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("terminate called after throwing an instance of 'c10::Error'\n"
         f"  what():  CUDA error: misaligned address\n{ADVICE_2_1}",
         "terminate called after throwing an instance of 'c10::AcceleratorError'\n"
         f"  what():  CUDA error: misaligned address\n{ADVICE_2_9}{STACK}"),
        ("LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32\n#0 0x00007f12 in x\n",
         "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32\n#0 0x00007fab in y\n"),
    ],
)  # fmt: skip
def test_what_is_said_before_an_abort(first: str, second: str) -> None:
    one, two = (failure_of(text, signal.SIGABRT) for text in (first, second))
    assert one.id == two.id
    assert one.id != failure_of("", signal.SIGABRT).id


def test_out_of_memory_says_nothing_of_the_build() -> None:
    message = "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has 139.81 GiB.\n"
    assert isinstance(judge(Observation(1, output=raised("torch.OutOfMemoryError", message)), []), CannotJudge)


@pytest.mark.parametrize(
    ("kind", "late"), [("illegal access", True), ("index out of bounds", True), ("ptxas", False), ("NaN", False)]
)
def test_which_errors_are_noticed_late(kind: str, late: bool) -> None:  # noqa: FBT001
    assert [is_late(output) for output in SAME[kind]] == [late] * len(SAME[kind])


HANG = """Fatal Python error: Aborted

Thread 0x00007f1a (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait

Current thread 0x00007f1b (most recent call first):
{frames}  File "/t/1/repro/repro.py", line 12 in step
  File "/t/1/repro/repro.py", line 20 in <module>
"""
WAITS = '  File "/v/lib/python3.11/site-packages/torch/cuda/__init__.py", line 1083 in synchronize\n'
COMPILES = """  File "/usr/lib/python3.11/subprocess.py", line 1196 in communicate
  File "/v/lib/python3.11/site-packages/torch/_inductor/cpp_builder.py", line 696 in _run_compile_cmd
  File "/v/lib/python3.11/site-packages/torch/_inductor/graph.py", line 2669 in compile_to_module
  File "/v/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 1166 in compile_wrapper
"""
TRACES = """  File "/v/lib/python3.11/site-packages/torch/_dynamo/symbolic_convert.py", line 1603 in step
  File "/v/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 736 in _fn
"""


def hang(frames: str) -> FoundFailure:
    verdict = judge(Observation(None, signal.SIGABRT, True, 300.0, output=HANG.format(frames=frames)), [])  # noqa: FBT003
    assert isinstance(verdict, Failed)
    return verdict.failures[0]


def test_a_hang_says_where_and_tells_compiling_from_running() -> None:
    waits, compiles, traces, alone = (hang(frames) for frames in (WAITS, COMPILES, TRACES, ""))
    assert waits.signature.title == "timeout: no end after 300 s in repro.py:step > torch/cuda/__init__.py:synchronize"
    assert compiles.signature.title == (
        "timeout: no end after 300 s in repro.py:step > torch/_inductor/cpp_builder.py:_run_compile_cmd"
    )
    assert alone.signature.title == "timeout: no end after 300 s in repro.py:step"
    assert compiles.id == traces.id
    assert waits.id == alone.id != compiles.id
