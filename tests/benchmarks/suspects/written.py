"""Cases of torch, written by hand from public threads in our own words, among made-up commits.

The history of torch could not be had here, so that the range is not real: `DISTRACTORS` commits are made from `areas`, a third
of them in the area of the culprit and on words of its kind. Titles and messages are ours; hashes are made up; the
files of a culprit are those that its thread names, else where its subject lies. `docs/history.md` says what that is worth.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bisect_tool.history.clues import TORCH_COMPILER, Sought, collect_clues
from bisect_tool.history.commit import ChangedFile, Commit
from bisect_tool.history.folding import fold
from tests.benchmarks.suspects.areas import AREAS, VERBS
from tests.benchmarks.suspects.mined import Question

DISTRACTORS = 79
START = datetime(2026, 3, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """A thread: `area` and `title` of the culprit (or of the fix), its files, and what the reporter saw."""

    thread: str
    area: str
    title: str
    files: tuple[str, ...]
    failure: str = ""
    script: str = ""
    sought: Sought = Sought.BREAK
    pins: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    submodule: bool = False


def _frame(file: str, function: str) -> str:
    return f'  File "/venv/lib/python3.11/site-packages/{file}", line 1, in {function}\n    pass\n'


CASES = (
    Case(
        "pytorch#185382",
        "dynamo",
        "Decompose addcmul_ and addcdiv_ with a tensor value through inductor's fma prim",
        ("torch/_dynamo/variables/tensor.py", "test/dynamo/test_optimizers.py"),
        named=TORCH_COMPILER,
        failure="AssertionError: compiled weights differ from eager and the difference grows with every step",
        script="n.add_(1); m.mul_(0.9); v.addcmul_(g, g, value=0.001); k = n.item(); w.addcdiv_(m, den, value=-k)",
    ),
    Case(
        "pytorch#193951",
        "aten",
        "Upgrade the oneDNN submodule from 3.12.0 to 3.12.3",
        ("third_party/ideep",),
        failure="check matmul_ms: 15527 is 1880 times the reference",
        script="x = torch.randn(2048, 2048).half(); torch.matmul(x, x)",
        submodule=True,
    ),
    Case(
        "pytorch#152823",
        "inductor",
        "Move the triton pin to the head of release 3.3",
        (".ci/docker/ci_commit_pins/triton.txt", ".ci/docker/triton_version.txt"),
        failure="check step_ms: 1.02 times the reference",
        script="flex_attention(q, k, v, block_mask=mask); norm(x)",
        pins=("pytorch-triton",),
    ),
    Case(
        "pytorch#130005",
        "inductor",
        "Joint graph pass that removes operations which change nothing",
        ("torch/_inductor/fx_passes/joint_graph.py",),
        named=TORCH_COMPILER,
        failure="accuracy check failed: beit gradients differ from eager",
        script="model = timm.create_model('beit_base_patch16_224'); torch.compile(model)(x).sum().backward()",
    ),
    Case(
        "torchtitan#4007",
        "inductor",
        "Reindex layout consumers to the producer's domain before index inversion",
        (
            "torch/_inductor/scheduler.py",
            "torch/_inductor/invert_expr_analysis.py",
            "test/inductor/test_loop_ordering.py",
        ),
        named=TORCH_COMPILER,
        failure="AssertionError: Loss mismatch at step 2",
        script="torch.compile(model); loss = model(tokens); q.transpose(1, 2).contiguous()",
    ),
    Case(
        "pytorch#165892",
        "inductor",
        "Choose configurations of matmul templates by a new set of heuristics",
        (
            "torch/_inductor/template_heuristics.py",
            "torch/_inductor/kernel/bmm.py",
            "torch/_inductor/kernel/mm_common.py",
        ),
        failure="Traceback (most recent call last):\n"
        + _frame("torch/_inductor/compile_fx.py", "_compile_fx_inner")
        + _frame("torch/_inductor/graph.py", "call_function")
        + _frame("torch/_inductor/kernel/bmm.py", "tuned_bmm")
        + "torch._inductor.exc.InductorError: AssertionError: dimensions of the bmm do not fit\n",
        script="f = torch.compile(torch.bmm); f(a, b)",
    ),
    Case(
        "pytorch#193061",
        "inductor",
        "Fuse reductions of mixed order into one kernel by default",
        ("torch/_inductor/codegen/simd.py", "torch/_inductor/codegen/triton.py", "torch/_inductor/config.py"),
        named=TORCH_COMPILER,
        failure="check grad failed: gradient of the shared scale is stale memory",
        script="shift, scale = t.chunk(2); y = F.layer_norm(x, s) * (1 + scale) + shift; y.sum().backward()",
    ),
    Case(
        "pytorch#193061 (named)",
        "inductor",
        "Fuse reductions of mixed order into one kernel by default",
        ("torch/_inductor/codegen/simd.py", "torch/_inductor/codegen/triton.py", "torch/_inductor/config.py"),
        failure="check grad failed; passes with config.triton.mix_order_reduction = False",
        script="y = F.layer_norm(x, s) * (1 + scale) + shift",
    ),
    Case(
        "pytorch#182012 (fix)",
        "aot",
        "Give the decomposition of diagonal_scatter contiguous strides",
        ("torch/_refs/__init__.py", "torch/_meta_registrations.py"),
        named=TORCH_COMPILER,
        failure="AssertionError: gradient is all zero",
        script="torch.compile(lambda x, s: torch.diagonal_scatter(x, s).sum())(x, s).backward()",
        sought=Sought.FIX,
    ),
    Case(
        "pytorch#183250 (fix)",
        "inductor",
        "Do not fuse a split scan with a reduction",
        ("torch/_inductor/scheduler.py", "torch/_inductor/codegen/triton_split_scan.py"),
        failure="Traceback (most recent call last):\n"
        + _frame("torch/_inductor/scheduler.py", "codegen")
        + _frame("torch/_inductor/codegen/triton_split_scan.py", "reduction")
        + "torch._inductor.exc.InductorError: NotImplementedError: NYI TritonSplitDimKernel reductions\n",
        script="torch.compile(lambda x: torch.cumprod(x, 1).sum())(x).backward()",
        sought=Sought.FIX,
    ),
    Case(
        "pytorch#193265 (fix)",
        "inductor",
        "Handle a full of zero dimensions in the cumsum pattern",
        ("torch/_inductor/fx_passes/post_grad.py",),
        failure="Traceback (most recent call last):\n"
        + _frame("torch/_inductor/fx_passes/post_grad.py", "pointless_cumsum_replacement")
        + "torch._inductor.exc.InductorError: IndexError: tuple index out of range\n",
        script="f = lambda: torch.full((), 5.0).cumsum(0); torch.compile(f)()",
        sought=Sought.FIX,
    ),
    Case(
        "pytorch#141960 (fix)",
        "autograd",
        "Break the cycle that kept saved tensors alive",
        ("torch/csrc/autograd/python_variable.cpp",),
        failure="check rss_mb: grows by 12 each step",
        script="for _ in range(100): y = f(x); y.backward()",
        sought=Sought.FIX,
    ),
    Case(
        "pytorch#167644",
        "aten",
        "Warn when the old switches for TF32 are used",
        ("aten/src/ATen/Context.cpp",),
        failure="UserWarning: Please use the new API settings to control TF32 behavior",
        script="torch.backends.cuda.matmul.allow_tf32 = True",
    ),
    Case(
        "pytorch#153568",
        "inductor",
        "Skip the reduction for norms over a dimension of size one",
        ("torch/_inductor/lowering.py", "torch/_refs/linalg/__init__.py"),
        named=TORCH_COMPILER,
        failure="AssertionError: shape (8, 3, 1) instead of (8, 3)",
        script="torch.compile(torch.linalg.vector_norm)(x, dim=-1)",
    ),
    Case(
        "pytorch#96278",
        "dynamo",
        "Trace torch.tensor through its refs implementation",
        ("torch/_dynamo/variables/torch.py", "torch/_refs/__init__.py"),
        failure="Traceback (most recent call last):\n"
        + _frame("torch/_dynamo/convert_frame.py", "_compile")
        + _frame("torch/_dynamo/symbolic_convert.py", "call_function")
        + _frame("torch/_dynamo/variables/torch.py", "call_function")
        + "torch._dynamo.exc.InternalTorchDynamoError: tensor() got an unexpected argument\n",
        script="torch.compile(lambda x: x + torch.tensor([1, 2]))(x)",
    ),
)


def written_questions(seed: int = 0) -> Iterator[Question]:
    """Each case among its distractors; the same seed gives the same ranges."""
    for number, case in enumerate(CASES):
        rng = random.Random(f"{seed}-{number}")
        yield _question(case, rng)


def _question(case: Case, rng: random.Random) -> Question:
    own = _commit(case.title, 0, case.area)
    files = {own.sha: tuple(ChangedFile(path, is_submodule=case.submodule) for path in case.files)}
    others = []
    for number in range(1, DISTRACTORS + 1):
        area = case.area if rng.random() < 1 / 3 else rng.choice(sorted(AREAS))
        topic = rng.choice(AREAS[area].topics)
        made = _commit(f"{rng.choice(VERBS)} {topic}", number, area)
        chosen = rng.sample(AREAS[area].files, min(len(AREAS[area].files), rng.choice((1, 1, 2, 3))))
        files[made.sha] = tuple(ChangedFile(path) for path in chosen)
        others.append(made)
    others.insert(rng.randrange(DISTRACTORS), own)
    clues = collect_clues(
        sought=case.sought, failure=case.failure, script=case.script, pins=case.pins, files=case.named
    )
    return Question(case.thread, fold(others, files), clues, frozenset({own.sha}))


def _commit(title: str, number: int, area: str) -> Commit:
    sha = hashlib.sha1(f"{title} {number}".encode()).hexdigest()  # a name, nothing is protected by it
    when = START + timedelta(minutes=15 * number)
    pull = 170_000 + number
    body = f"Pull Request resolved: https://github.com/pytorch/pytorch/pull/{pull}\nApproved by: https://github.com/someone\n"
    return Commit(sha, f"[{AREAS[area].tag}] {title} (#{pull})", body, "Ada Example", when)
