"""PyTorch's minifier: a program that shows the failure alone, and some time to make it smaller."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.environments.sandbox import sandbox_in
from bisect_tool.reports import events
from bisect_tool.runs.diagnosing.bench import Variation
from bisect_tool.runs.diagnosing.ladder import Blamed
from bisect_tool.runs.diagnosing.naming import UNCOMPILED
from bisect_tool.runs.diagnosing.scene import Scene
from bisect_tool.trials.failure import SignatureKind
from bisect_tool.trials.left_files import write_anew
from bisect_tool.trials.limits import read_limits
from bisect_tool.trials.process import run_process, walls_of

TIME = 60.0  # seconds for making the program smaller


def minify(scene: Scene, blamed: Blamed) -> str | None:
    """Where the minifier left a program; None when it left none, as for most failures that are no exceptions."""
    if blamed.rung == UNCOMPILED:
        return None
    evidence = scene.evidence
    signature = scene.bench.session.failures[scene.change.failure].signature
    variation = Variation(
        name="minifier",
        variables={
            "TORCHDYNAMO_REPRO_AFTER": "dynamo" if blamed.rung == "eager" else "aot",
            "TORCHDYNAMO_REPRO_LEVEL": "2" if signature.kind is SignatureKind.EXCEPTION else "4",
        },
        places={"TORCH_COMPILE_DEBUG_DIR": str(evidence.minifier)},
        written=(evidence.minifier,),
        is_kept=evidence.is_minified,
    )
    if not scene.try_one(scene.change.with_, variation).stored:
        if (launcher := evidence.launcher()) is not None:
            _run(scene, launcher)
        evidence.note_minified()
    left = evidence.minified()
    return None if left is None else scene.relative(left)


def _run(scene: Scene, launcher: Path) -> None:
    """Let the minifier work for a while; what it has found by then stays in its folder."""
    label, programs = scene.label(scene.change.with_), scene.opened[scene.change.with_].programs
    environ, sandbox = scene.bench.environ, sandbox_in(scene.bench.environ)
    walls = None
    if sandbox is not None:
        view = sandbox.around(programs, written=(scene.evidence.minifier,), device=scene.device)
        walls = walls_of(sandbox, view)
    scene.bench.tell(events.Notice(f"{label}: minifying for at most {TIME:.0f} s"))
    with tempfile.TemporaryDirectory(dir=launcher.parent, prefix="caches-", ignore_cleanup_errors=True) as scratch:
        ended = run_process(
            [str(programs / "python"), str(launcher)],
            environ=isolated_environment(environ, scratch=Path(scratch), programs=programs, device=scene.device),
            folder=launcher.parent,
            timeout=TIME,
            mark=uuid.uuid4().hex,
            limits=read_limits(environ),
            walls=walls,
        )
    write_anew(launcher.parent / "minifier.log", ended.output)
