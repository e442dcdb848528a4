"""What is known about a failure that may point to a commit. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bisect_tool.history.parts import Part
from bisect_tool.history.words import words_of, words_of_code

# A traceback has a comma behind the line and its innermost place last; faulthandler, at a crash or a timeout, neither.
_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line \d+(?P<comma>,?) in (?P<function>[^\n]+)')
# What faulthandler writes around the places: threads, all modules in C that were ever imported. That a process was aborted is
# often what this tool did to it.
_STACK_EDGE = re.compile(r"\s*(?:Current thread|Thread) 0x[0-9a-f]+ |Fatal Python error: Aborted|Extension modules: ")
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/")
_MADE_UP = re.compile(r"^<|/(?:torchinductor_|__pycache__)|/tmp/")
_STANDARD = re.compile(r"/lib/python3(?:\.\d+)?/(?!.*-packages/)")
_FLAG = re.compile(r"\b(?:config|flags?|options?)\.(\w+(?:\.\w+)*)|\b(TORCH\w*_[A-Z_]+)\b")
_LONGEST = 200_000
# To be named in `files` when eager passes and only the compiled case fails, as the controls of a spec show.
TORCH_COMPILER = tuple(
    f"torch/{name}/" for name in ("_inductor", "_dynamo", "_functorch", "_decomp", "_refs", "_prims_common")
)


class Sought(StrEnum):
    """Whether the commit that broke it is looked for, or the one that repaired it."""

    BREAK = "break"
    FIX = "fix"


@dataclass(frozen=True, slots=True)
class Frame:
    """A place of a traceback: `file` as it lies in the package (`torch/_inductor/lowering.py`)."""

    file: str
    function: str


@dataclass(frozen=True, slots=True)
class Clues:
    """What points to a commit.

    `frames` are those of the traceback, the innermost last. `message` are the words of the failure's text, `repro` those of
    the script, `keys` those of configuration keys in either. `files` are named by other means, as by the compiler bisector;
    one that ends in `/` is a folder.
    `passes` are the words of the compiler pass or operator that the compiler bisector names.
    `pins` are the dependencies whose versions differ between the two environments. `part` is where the change must be, when
    cross tests have shown it. `issue` is the number of the report, where that is in the project's own tracker.
    """

    sought: Sought = Sought.BREAK
    frames: tuple[Frame, ...] = ()
    message: frozenset[str] = frozenset()
    repro: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    pins: frozenset[str] = frozenset()
    part: Part | None = None
    passes: frozenset[str] = frozenset()
    issue: int | None = None


def with_part(clues: Clues, files: Sequence[str], names: Sequence[str]) -> Clues:
    """The clues with the part of the compiler that makes the failure: where it lies, and what it is called."""
    ordered = tuple(dict.fromkeys((*files, *clues.files)))
    return replace(clues, files=ordered, passes=words_of(" ".join(names)))


def collect_clues(
    *,
    sought: Sought = Sought.BREAK,
    failure: str = "",
    script: str = "",
    files: Sequence[str] = (),
    pins: Sequence[str] = (),
    part: Part | None = None,
) -> Clues:
    """The clues in the text of a failure (a traceback, or what a check reported) and in the repro's source."""
    failure, script = failure[-_LONGEST:], script[:_LONGEST]
    frames = frames_in(failure)
    said = _without_frames(failure)
    keys = {name for found in _FLAG.findall(f"{script}\n{said}") for name in found if name}
    return Clues(
        sought, frames, words_of(said), words_of_code(script), words_of(" ".join(keys)),
        tuple(dict.fromkeys(files)), frozenset(pin.lower() for pin in pins), part,
    )  # fmt: skip


def frames_in(text: str) -> tuple[Frame, ...]:
    """The places of Python tracebacks in a text that lie in installed packages, in their order, the innermost last.

    Behind them come those that faulthandler printed when the process was ended.
    """
    raised: list[Frame] = []
    ended: list[Frame] = []
    for found in _FRAME.finditer(text):
        place = found["file"].replace("\\", "/")
        file = _INSTALLED.sub("", place)
        # Only what is below site-packages is looked at: the environment itself may lie in /tmp.
        if _STANDARD.search(place) or file == place or _MADE_UP.search(file):
            continue
        (raised if found["comma"] else ended).append(Frame(file, found["function"].strip()))
    return (*raised, *reversed(ended))


def _without_frames(text: str) -> str:
    """The text without the places of a traceback and the source lines under them."""
    kept, below = [], False
    for line in text.split("\n"):
        is_frame = bool(_FRAME.search(line))
        below = is_frame or (below and line.startswith("    "))
        if not below and not _STACK_EDGE.match(line):
            kept.append(line)
    return "\n".join(kept)
