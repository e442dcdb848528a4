"""Parts of torch with real paths, and what commits there might be about, for made-up commits around a real one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Area:
    """A part of torch: files, and things that commits there are about."""

    tag: str
    files: tuple[str, ...]
    topics: tuple[str, ...]


AREAS = {
    "inductor": Area(
        "inductor",
        (
            "torch/_inductor/lowering.py",
            "torch/_inductor/scheduler.py",
            "torch/_inductor/ir.py",
            "torch/_inductor/utils.py",
            "torch/_inductor/codegen/triton.py",
            "torch/_inductor/codegen/cpp.py",
            "torch/_inductor/codegen/simd.py",
            "torch/_inductor/fx_passes/post_grad.py",
            "torch/_inductor/fx_passes/joint_graph.py",
            "torch/_inductor/config.py",
            "torch/_inductor/kernel/mm.py",
            "torch/_inductor/select_algorithm.py",
            "torch/_inductor/decomposition.py",
            "torch/_inductor/runtime/triton_heuristics.py",
            "torch/_inductor/codecache.py",
            "torch/_inductor/compile_fx.py",
        ),
        (
            "fusion score",
            "reduction split",
            "layout constraint",
            "scatter lowering",
            "autotune choice",
            "matmul template",
            "cumsum scan",
            "kernel naming",
            "cudagraph partition",
            "vectorized store",
            "index simplification",
            "bmm padding",
            "norm kernel",
            "graph cache key",
            "welford reduction",
            "loop reordering",
            "fallback for conv",
            "addmm epilogue",
        ),
    ),
    "dynamo": Area(
        "dynamo",
        (
            "torch/_dynamo/variables/tensor.py",
            "torch/_dynamo/variables/builtin.py",
            "torch/_dynamo/guards.py",
            "torch/_dynamo/symbolic_convert.py",
            "torch/_dynamo/variables/builder.py",
            "torch/_dynamo/output_graph.py",
            "torch/_dynamo/variables/user_defined.py",
            "torch/_dynamo/convert_frame.py",
            "torch/_dynamo/polyfills/__init__.py",
        ),
        (
            "graph break reason",
            "guard on dict order",
            "optimizer step",
            "namedtuple subclass",
            "generator support",
            "context manager exit",
            "item call",
            "mutation of attribute",
            "recompile limit",
            "inplace operator",
            "closure cell",
        ),
    ),
    "aot": Area(
        "aotautograd",
        (
            "torch/_functorch/_aot_autograd/collect_metadata_analysis.py",
            "torch/_functorch/partitioners.py",
            "torch/_decomp/decompositions.py",
            "torch/_meta_registrations.py",
            "torch/_subclasses/fake_tensor.py",
            "torch/_refs/__init__.py",
            "torch/_prims_common/__init__.py",
            "torch/fx/experimental/symbolic_shapes.py",
        ),
        (
            "stride of the meta kernel",
            "view replay",
            "saved activations",
            "norm decomposition",
            "unbacked symint",
            "type promotion",
            "alias annotation",
            "recompute heuristic",
            "embedding backward",
            "upsample decomposition",
        ),
    ),
    "aten": Area(
        "ATen",
        (
            "aten/src/ATen/native/ReduceOps.cpp",
            "aten/src/ATen/native/cuda/Indexing.cu",
            "aten/src/ATen/native/LinearAlgebra.cpp",
            "aten/src/ATen/native/native_functions.yaml",
            "aten/src/ATen/Context.cpp",
            "aten/src/ATen/native/cuda/SoftMax.cu",
            "aten/src/ATen/native/mkldnn/Matmul.cpp",
            "aten/src/ATen/cuda/CUDABlas.cpp",
            "aten/src/ATen/native/cuda/Sort.cu",
        ),
        (
            "half precision matmul",
            "sort stability",
            "softmax launch bounds",
            "int64 indexing",
            "tf32 flag",
            "median of nan",
            "grouped gemm",
            "sparse addmm",
            "accumulate type",
            "fp8 scaling",
            "segment reduce",
            "memory format of output",
        ),
    ),
    "autograd": Area(
        "autograd",
        (
            "torch/csrc/autograd/engine.cpp",
            "tools/autograd/derivatives.yaml",
            "torch/autograd/graph.py",
            "torch/csrc/autograd/python_variable.cpp",
            "torch/autograd/function.py",
            "torch/csrc/Module.cpp",
        ),
        (
            "hook order",
            "saved tensor leak",
            "reference cycle",
            "forward mode formula",
            "double backward",
            "thread handoff",
        ),
    ),
    "distributed": Area(
        "c10d",
        (
            "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
            "torch/distributed/fsdp/_runtime_utils.py",
            "torch/distributed/tensor/_ops/_math_ops.py",
            "torch/distributed/checkpoint/planner.py",
        ),
        (
            "watchdog timeout",
            "all gather bucket",
            "norm strategy",
            "mesh slicing",
            "checkpoint metadata",
            "store barrier",
        ),
    ),
    "export": Area(
        "export",
        ("torch/export/_trace.py", "torch/_export/serde/serialize.py", "torch/export/exported_program.py"),
        ("serialized schema", "dynamic shapes spec", "unflatten", "constraint message"),
    ),
    "mps": Area(
        "MPS",
        ("aten/src/ATen/native/mps/operations/ReduceOps.mm", "aten/src/ATen/mps/MPSStream.mm"),
        ("strided copy", "metal kernel for sort", "autocast on mac"),
    ),
    "rocm": Area(
        "ROCm",
        ("aten/src/ATen/cuda/tunable/TunableGemm.h", "cmake/public/LoadHIP.cmake"),
        ("tunable gemm", "hip version check"),
    ),
    "ci": Area(
        "CI",
        (".github/workflows/pull.yml", ".ci/pytorch/test.sh", ".github/scripts/trymerge.py"),
        ("shard count", "runner label", "skip list"),
    ),
    "docs": Area(
        "docs",
        ("docs/source/notes/cuda.rst", "README.md", "docs/source/nn.rst"),
        ("typo", "broken link", "note on seeds"),
    ),
    "tests": Area(
        "test",
        ("test/test_torch.py", "test/inductor/test_torchinductor.py", "test/dynamo/test_misc.py"),
        ("flaky tolerance", "device skip"),
    ),
    "nn": Area(
        "nn",
        ("torch/nn/functional.py", "torch/nn/modules/normalization.py", "torch/optim/adamw.py"),
        ("optimizer foreach path", "layer norm argument"),
    ),
    "pins": Area(
        "pins",
        (".ci/docker/ci_commit_pins/huggingface-requirements.txt", ".github/ci_commit_pins/vision.txt"),
        ("vision pin", "audio pin"),
    ),
}
VERBS = (
    "Improve",
    "Handle",
    "Add option for",
    "Refactor",
    "Speed up",
    "Fix",
    "Support",
    "Simplify",
    "Avoid copy in",
    "Log",
)
