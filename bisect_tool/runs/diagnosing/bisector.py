"""PyTorch's own compiler bisector on one build, with this tool's judgement of every trial.

The bisector knows good and bad only. Here the failure that is looked for is bad and a pass is good; anything else stops it
without an answer, because both words would be wrong. Backends that the ladder has judged are not run again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Timer
from typing import IO, Any

from bisect_tool.environments import environment as environments
from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.environments.sandbox import sandbox_in
from bisect_tool.runs.diagnosing.ladder import Shown
from bisect_tool.runs.diagnosing.naming import Bisected
from bisect_tool.trials.left_files import left_files, read_left, write_left

DRIVER = Path(environments.__file__).with_name("bisector_driver.py")
END_TIME = 15.0  # seconds for the driver to go
SILENT = 300.0  # seconds that it may think: it imports torch first, then it only counts
MOST_TRIALS = 64  # 9 subsystems and 2 ** 20 applications of one need fewer
LONGEST_STATE = 1024 * 1024  # bytes of one file of its state
LONGEST_LINE = 1024 * 1024
MOST_FILES = 1000
SAME_CODE = {
    "aot_eager_decomp_partition_crossref": "aot_eager_decomp_partition"
}  # with checks added, which find other things


@dataclass(frozen=True, slots=True)
class Asked:
    """What the bisector wants to know: does the failure come when only so much of the compiler takes part?"""

    backend: str
    subsystem: str | None = None
    state: str | None = None
    low: int | None = None
    high: int | None = None

    @property
    def name(self) -> str:
        """`inductor, post_grad_passes: bisect 0 to 6`."""
        if self.subsystem is None:
            return self.backend
        limits = f" {self.low} to {self.high}" if self.low is not None else ""
        return f"{self.backend}, {self.subsystem}: {self.state}{limits}"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The bisector gives no answer, for this reason."""

    reason: str


@dataclass(slots=True)
class Bisection:
    """One run of the bisector. `judge` says what a trial shows when it finds the state in the folder that it is given.

    `inside` is the folder that its state has to lie in. `applied` gives what was written down about the applications of a
    subsystem in the trial that counted them, by their number; torch itself tells it only since 2.13 to another process. `known`
    are the rungs that were judged before, by their names.
    """

    judge: Callable[[Asked, Path], tuple[Shown, str]]
    applied: Callable[[Asked], Sequence[str]] = lambda _asked: ()
    known: Mapping[str, Shown] = field(default_factory=dict)
    trials: int = 0
    inside: Path | None = None
    _of: dict[str, int] = field(default_factory=dict)
    _names: dict[str, Sequence[str]] = field(default_factory=dict)

    def run(
        self, opened: environments.Environment, scratch: Path, environ: Mapping[str, str], device: str
    ) -> Bisected | Stopped:
        """Drive it to its end; `scratch` is an own folder, made here."""
        self.inside = scratch
        with _driver(opened, scratch, environ, device) as (answers, questions):
            return self.converse(questions, answers)

    def converse(self, questions: Iterator[str], answers: Callable[[str], None]) -> Bisected | Stopped:
        """Answer every question until there is a result."""
        for line in questions:
            said = _said(line)
            if said is None or not self._is_inside(said):
                return Stopped("the compiler bisector of this build said something else")
            if said.get("has") is False:
                return Stopped("this build of torch has no compiler bisector")
            if "broken" in said:
                return Stopped(f"the compiler bisector of this build broke off: {said['broken']}")
            if "result" in said:
                return self._result(said["result"])
            if "asks" in said:
                word = self._answer(Asked(**said["asks"]), Path(said["folder"]))
                if isinstance(word, Stopped):
                    answers("stop")
                    return word
                answers(word)
        return Stopped("the compiler bisector ended without a result")

    def _is_inside(self, said: Mapping[str, Any]) -> bool:
        """Whether the folder that it names, if it does, is one of its own: a trial is given it to write."""
        folder = Path(said.get("folder", ""))
        return (
            self.inside is None or "folder" not in said or (self.inside in folder.parents and ".." not in folder.parts)
        )

    def _answer(self, asked: Asked, folder: Path) -> str | Stopped:
        shown, detail = self._shown(asked, folder)
        if asked.state == "find_max_bounds" and asked.subsystem:
            self._of[asked.subsystem] = applications(folder, asked, self.inside)
            self._names[asked.subsystem] = self.applied(asked)
        if shown is Shown.WANTED:
            return "bad"
        if shown is Shown.PASSES:
            return "good"
        return Stopped(f"cannot say: {asked.name} shows {shown.value}{f': {detail}' if detail else ''}")

    def _shown(self, asked: Asked, folder: Path) -> tuple[Shown, str]:
        name = SAME_CODE.get(asked.backend, asked.backend)
        if asked.subsystem is None and name in self.known:
            return self.known[name], "as on the ladder"
        self.trials += 1
        if self.trials > MOST_TRIALS:
            return Shown.NOT_JUDGED, f"{MOST_TRIALS} trials were not enough"
        return self.judge(asked, folder)

    def _result(self, value: Mapping[str, Any] | None) -> Bisected | Stopped:
        if value is None:
            return Stopped("every backend passes when the compiler bisector switches it on: it cannot see this failure")
        subsystem, number = value["subsystem"] or None, value["number"]
        names = self._names.get(subsystem or "", ())
        return Bisected(
            backend=value["backend"],
            subsystem=subsystem,
            number=number,
            of=self._of.get(subsystem or ""),
            what=names[number] if number is not None and number < len(names) else value["what"],
        )


def _said(line: str) -> dict[str, Any] | None:
    """A line of the driver, None when it is none of those that it says."""
    with suppress(ValueError, TypeError):
        said = json.loads(line)
        if isinstance(said, dict) and isinstance(said.get("folder", ""), str):
            if "asks" in said:
                asked = Asked(**said["asks"])
                numbers = (asked.low, asked.high)
                texts = (asked.backend, asked.subsystem or "", asked.state or "")
                if not all(isinstance(one, str) for one in texts) or not all(
                    isinstance(one, int | None) for one in numbers
                ):
                    return None
            return said
    return None


def applications(folder: Path, asked: Asked, root: Path | None = None) -> int:
    """How often a subsystem was applied in the trial that counted; the file has the number of the last one, from 0.

    Here and below, `root` is the folder around `folder` of which only what is inside is not to be trusted.
    """
    root, own = _rooted(folder, root)
    name = f"{own}{asked.backend}/{asked.subsystem}_bisect_range.txt"
    with suppress(OSError, ValueError):
        for line in read_left(root, name, LONGEST_STATE).decode().splitlines():
            if line.startswith("high="):
                return int(line.removeprefix("high=")) + 1
    return 0


def names_of_applications(record: str, subsystem: str) -> list[str]:
    """What each application of a subsystem was, by its number: the name of the pass, and the patterns that it applied.

    `record` is what `bisect_tool.environments.compile_switch` has written.
    """
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in record.splitlines():
        word, _, name = line.partition("\t")
        if word == "*" and inside and name not in found[-1][1]:
            found[-1][1].append(name)
        elif word != "*":
            inside = word == subsystem
            if inside:
                found.append((name, []))
    return [f"{name}: {', '.join(patterns[:3])}" if patterns else name for name, patterns in found]


def _rooted(folder: Path, root: Path | None) -> tuple[Path, str]:
    root = root or folder
    return root, "" if root == folder else f"{folder.relative_to(root).as_posix()}/"


def state_files(folder: Path, root: Path | None = None) -> dict[str, str]:
    """The bisector's state, by file: what a trial may have written to it."""
    root, own = _rooted(folder, root)
    return {
        name.removeprefix(own): read_left(root, name, LONGEST_STATE).decode("utf-8", "replace")
        for name in left_files(root, ".txt", MOST_FILES)
        if name.startswith(own)
    }


def restore_state(folder: Path, files: Mapping[str, str], root: Path | None = None) -> None:
    """Put the state back as a trial of an earlier run left it. Raises `OSError`."""
    root, own = _rooted(folder, root)
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_left(root, f"{own}{name}", text)


@contextmanager
def _driver(
    opened: environments.Environment, scratch: Path, environ: Mapping[str, str], device: str
) -> Iterator[tuple[Callable[[str], None], Iterator[str]]]:
    """The driver at work: how to answer it, and its lines. It ends when its input ends, also when this process is killed."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    with (scratch / "driver.log").open("w") as log:
        own = isolated_environment(environ, scratch=scratch, programs=opened.programs, device=device)
        command, sandbox = [str(opened.programs / "python"), str(DRIVER)], sandbox_in(environ)
        if sandbox is not None:
            view = sandbox.around(opened.programs, written=(scratch,), device=device)
            command = sandbox.command(replace(view, shown=(*view.shown, DRIVER)), command, own)
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=scratch,  # the same inside
            env=own if sandbox is None else {},
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield _writer(process.stdin), _lines(process, process.stdout)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(END_TIME)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def _lines(process: subprocess.Popen[str], stream: IO[str]) -> Iterator[str]:
    """Its lines; a driver that says nothing for too long is ended, and so are the lines."""
    while True:
        watch = Timer(SILENT, process.kill)
        watch.daemon = True
        watch.start()
        try:
            line = stream.readline(LONGEST_LINE)
        finally:
            watch.cancel()
        if not line:
            return
        yield line


def _writer(stream: IO[str]) -> Callable[[str], None]:
    def write(word: str) -> None:
        with suppress(BrokenPipeError):
            stream.write(f"{word}\n")
            stream.flush()

    return write
