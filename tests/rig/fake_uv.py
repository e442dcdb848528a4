"""A stand-in for uv that fails in a chosen way and is the real uv otherwise.

The texts are those of real uv, from `tests.rig.uv_message`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import uv

from tests.rig.uv_message import UvMessage

PROGRAM = """#!{python}
import json, os, signal, sys, time
from pathlib import Path

here = Path(__file__).resolve().parent
plan = json.loads((here / "plan.json").read_text())
calls = here / "calls.jsonl"
with calls.open("a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
struck = here / "struck"
words = [word for word in sys.argv[1:] if not word.startswith("-")]
due = words[: len(plan["when"])] == plan["when"]
if due and (plan["times"] is None or len(struck.read_text()) < plan["times"]):
    with struck.open("a") as log:
        log.write("x")
    time.sleep(plan["seconds"])
    sys.stdout.write(plan["stdout"])
    sys.stderr.write(plan["stderr"])
    sys.stdout.flush()
    sys.stderr.flush()
    if plan["status"] < 0:
        os.kill(os.getpid(), -plan["status"])
    sys.exit(plan["status"])
os.execv(plan["real"], [plan["real"], *sys.argv[1:]])
"""


@dataclass(frozen=True, slots=True)
class FakeUv:
    """`path` is the executable; it lies alone in its folder, so that the folder can be put into PATH."""

    path: Path

    def calls(self) -> list[list[str]]:
        """The arguments of every call so far."""
        log = self.path.with_name("calls.jsonl")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def struck(self) -> int:
        """How often it failed so far."""
        return len(self.path.with_name("struck").read_text())


def fake_uv(
    folder: Path,
    *,
    when: tuple[str, ...] = ("pip", "install"),
    status: int = 1,
    stdout: str = "",
    stderr: str = "",
    seconds: float = 0.0,
    times: int | None = None,
) -> FakeUv:
    """Make one that answers the subcommand `when` with these texts after `seconds`, at most `times` times.

    A negative `status` is the signal that ends it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plan = {"when": list(when), "status": status, "stdout": stdout, "stderr": stderr, "seconds": seconds}
    plan |= {"times": times, "real": uv.find_uv_bin()}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (folder / "struck").write_text("")
    path = folder / "uv"
    path.write_text(PROGRAM.replace("{python}", sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return FakeUv(path)


def replaying(
    folder: Path, message: UvMessage, *, when: tuple[str, ...] = ("pip", "install"), times: int | None = None
) -> FakeUv:
    """One that says what real uv said in a known situation."""
    texts = {"stdout": message.stdout, "stderr": message.stderr}
    return fake_uv(folder, when=when, status=message.status, times=times, **texts)  # type: ignore[arg-type]


def hanging(folder: Path, *, when: tuple[str, ...] = ("pip", "install"), times: int | None = None) -> FakeUv:
    """One that does nothing for ten minutes."""
    return fake_uv(folder, when=when, seconds=600.0, times=times)
