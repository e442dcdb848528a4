"""Compiling the Python files of an environment ahead, for trials that may not write into it.

Outside the sandbox the first import of a module leaves its compiled form beside it, for all trials after it. Inside, an
environment cannot be written: its files are hard links into uv's cache, so that a change in place would be one of every
environment of that wheel. Without their compiled form, thousands of files would be compiled again by every trial.

Without a sandbox each new environment would be compiled anew by its first imports, although most files are those of the build
before (`compile_before`).

No code of the environment runs here: Python reads the files, without `site` and so without `.pth` files. What cannot be
compiled is left out, and shows itself when it is imported.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bisect_tool.environments.sandbox import Sandbox
from bisect_tool.environments.uv import die_with_parent
from bisect_tool.stopping import Stop

TIMEOUT = 900.0  # seconds
BEFORE = Path(__file__).with_name("compiled_before.py")
_TESTS = r"[/\\](tests?|testing[/\\]_internal)[/\\]"  # files that a repro hardly imports, a third of those of torch


def compile_ahead(venv: Path, sandbox: Sandbox, scratch: Path, stop: Stop) -> None:
    """Compile what is below `venv`, in a sandbox that may write there; `scratch` is a folder for temporary files.

    It may take a minute for torch. Nothing depends on it but how fast trials begin, so that its failures are none. Raises
    `Cancelled` when `stop` was set.
    """
    view = sandbox.around(venv / "bin", written=(venv / "lib", scratch), device="cpu")
    words = [_python(venv), "-I", "-S", "-m", "compileall", "-q", "-j", "0", "-x", _TESTS, str(venv / "lib")]
    variables = {"TMPDIR": str(scratch), "PATH": "/usr/bin:/bin", "HOME": str(scratch)}
    _run(sandbox.command(view, words, variables, "--die-with-parent"), {}, stop)


def compile_before(site: Path, venv: Path, store: Path, others: Sequence[Path], stop: Stop) -> None:
    """Put compiled files into the packages `site` of `venv`: those that are compiled in `others`, from `store` where they are.

    The store holds code by the hash of its source, for this interpreter. Nothing depends on it but how long the first import
    takes, so that its failures are none. Raises `Cancelled` when `stop` was set.
    """
    words = [_python(venv), "-I", "-S", str(BEFORE), str(site), str(store), *map(str, others)]
    _run(words, {"PATH": "/usr/bin:/bin"}, stop)


def _python(venv: Path) -> str:
    """The interpreter of an environment, not by the link in it.

    Beside that may lie a `pyvenv.cfg` of some package, which decides where the standard library is loaded from, and what is run
    here may write.
    """
    return os.path.realpath(venv / "bin" / "python")


def _run(command: Sequence[str], variables: Mapping[str, str], stop: Stop) -> None:
    process = subprocess.Popen(
        list(command),
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509  see there
    )
    try:
        with stop.ending(process.kill):
            process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        pass  # what is compiled by then is there
    finally:
        process.kill()
        process.wait()
    stop.check()
