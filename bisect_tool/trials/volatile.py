"""Removing from a message what differs from run to run, from machine to machine, and from build to build.

The table `VOLATILE` is applied from top to bottom: larger things (dates, paths, generated names) before the numbers inside
them. What replaces a thing is never itself a thing that some row would replace, so that settling twice changes nothing.
Repetitions are possessive (`++`) and anchored by what stands before them, so that the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

LONGEST = 8_192  # characters that are looked at: a signature needs one line or two
_SOURCE = r"(?:pyx|pyi|py|cpp|cxx|cc|cuh|cu|c|hpp|hxx|h|inl|ptx|ttgir|ttir|llir)"
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)?")
_SPACE = re.compile(r"\s++")
_DIGIT = re.compile(r"\d")
_PLACE = re.compile(
    r"(?<![^\s\"'()\[\]<>=:,])[^\s\"'()\[\]<>=:,]*/(?:site-packages|trials/[^/\s]+/repro|environments/[^/\s]+/venv)/"
)
_FILE = re.compile(rf"\.{_SOURCE}\Z")
_MADE_UP = re.compile(r"torchinductor_|/tmp[a-z0-9_]{8}/|/c[a-z2-7]{51}\.|/triton/cache/|\.triton/")
_NUMBER = r"(?<![\w.#])[-+]?(?:\d[\d_]*+(?:\.\d++)?|\.\d++)(?:e[-+]?\d++)?"
_PASSES = 5


@dataclass(frozen=True)
class Volatile:
    """One row: what is replaced, by what (a text, or a function of the match), and why it tells nothing.

    A text in which the row finds anything holds one of `needs` (where there are any), and a digit with `digit`: looking for
    these is much faster, and what is never needed is not even compiled.
    """

    text: str
    replacement: str | Callable[[re.Match[str]], str]
    why: str
    needs: tuple[str, ...] = ()
    digit: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What is replaced."""
        return re.compile(self.text)

    def may_be_in(self, text: str, *, digit: bool) -> bool:
        """Whether the row may find something in `text`, which has a `digit` or none."""
        return (digit or not self.digit) and (not self.needs or any(one in text for one in self.needs))


def _row(
    text: str,
    replacement: str | Callable[[re.Match[str]], str],
    why: str,
    *needs: str,
    digit: bool = False,
) -> Volatile:
    return Volatile(text, replacement, why, needs, digit)


def without_places(text: str) -> str:
    """`text` without the folders in which this machine keeps environments and trials: of no use to whoever reads it."""
    return _PLACE.sub("", text)


def is_made_up(path: str) -> bool:
    """Whether the name of a file was made by a program: Inductor, Triton, tempfile, FX, `exec`."""
    return path.startswith("<") or _MADE_UP.search(path) is not None


def _name_of_path(match: re.Match[str]) -> str:
    """`<generated>` for a file with a made-up name, the base name of a source file, `<path>` for another absolute path."""
    path = match.group()
    if is_made_up(path):
        return "<generated>"
    if _FILE.search(path):
        return path.rsplit("/", 1)[1]
    return "<path>" if path.startswith(("/", "~")) else path


VOLATILE: tuple[Volatile, ...] = (
    _row(
        "[\u2018\u2019`\u00b4]",
        "'",
        "gcc quotes by the language of the machine; torch adds and drops backticks",
        "\u2018",
        "\u2019",
        "`",
        "\u00b4",
    ),
    _row("[\u201c\u201d]", '"', "the same", "\u201c", "\u201d"),
    _row(r"\b[a-z]++://[^\s'\"<>)]++", "<url>", "links into the documentation carry the release", "://"),
    _row(r" at 0x[0-9a-fA-F]++", "", "where an object lies in memory, as in <foo.Bar object at 0x7f3a>", " at 0x"),
    _row(r"\b0x[0-9a-fA-F]++", "#", "an address", "0x"),
    _row(
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?:[.,]\d++)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)",
        "<time>",
        "a date",
        "-",
        digit=True,
    ),
    _row(r"(?<![\w:.])\d{1,2}:\d\d:\d\d(?:[.,]\d++)?(?!\w)", "<time>", "a time of day or a duration", ":", digit=True),
    _row(
        r"\b([A-Z]\w*?)Backward\d*+\b", r"\1", "nodes of autograd: ExpBackward0 until 2.10, Exp from 2.11", "Backward"
    ),
    _row(
        r"""[\[({](?:(['"])(?:(?!\1).){0,99}+\1, ?){3,}+[^\])}]{0,99}+[\])}]?""",
        "<names>",
        "an enumeration of all that is known (options, backends) grows from release to release",
        "'",
        '"',
    ),
    _row(
        r"(?<![\w/.~+-])[\w.~+-]*+(?:/[\w.~+@=-]++)++",
        _name_of_path,
        "folders differ by machine, environment and build; the name of a source file tells where",
        "/",
    ),
    _row(
        rf"(\.{_SOURCE}\b['\"]?|<generated>):\d++(?::\d++)?(?!\w)",
        r"\1",
        "line and column after the name of a file",
        ":",
        digit=True,
    ),
    _row(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<hash>", "a UUID", "-"),
    _row(r"\bc[a-z2-7]{51}(?:\.[a-z]\w*+)*+(?::\d++)*+(?!\w)", "<generated>", "a file of Inductor without its folder"),
    _row(
        r"\b(?=[a-z]*+\d)[a-z0-9]{26,}+\b",
        "<hash>",
        "Inductor names files and modules by a hash in base 32",
        digit=True,
    ),
    _row(
        r"(?<![\w.])(?=[a-f]*+\d)(?=\d*+[a-f])[0-9a-f]{7,}+\b(?![-+.]\d)",
        "<hash>",
        "a revision or another hexadecimal hash",
        digit=True,
    ),
    _row(r"\btmp[a-z0-9_]{8}\b", "<temporary>", "how Python's tempfile names things", "tmp"),
    _row(r"(?<!\w)v?\d++(?:\.\d++){2,}+[\w.+-]*+", "#", "a version: torch puts its own into messages", ".", digit=True),
    _row(r"\b__compiled_fn_\w++", "__compiled_fn", "numbered in the order of compilation", "__compiled_fn_"),
    _row(
        r"\btorch_dynamo_resume_in_(\w+?)_at_\d++\b",
        r"resume_in_\1",
        "Dynamo puts a line number in",
        "torch_dynamo_resume_in_",
        digit=True,
    ),
    _row(
        r"\b(?:sm|compute)_\d++[af]?\b(?:[ ,]++(?:sm|compute)_\d++[af]?\b)++",
        "<architectures>",
        "all that a build knows, which grows from release to release",
        "sm_",
        "compute_",
        digit=True,
    ),
    _row(
        r"<eval_with_key>\.\d++", "<eval_with_key>", "FX numbers the code that it makes", "<eval_with_key>.", digit=True
    ),
    _row(
        r"\b(?:triton|cpp|cuda|mps)(?:_[a-z]{2,9})?_fused_\w++",
        "<kernel>",
        "named after what was fused, and numbered",
        "_fused_",
    ),
    _row(r"\b(\w*?graph(?:_module)?)_?\d++\b", r"\1#", "subgraphs are numbered", "graph", digit=True),
    _row(r"%([A-Za-z_]\w*?)_?\d++\b", r"%\1", "nodes of a graph are numbered", "%", digit=True),
    _row(
        r"\b(primals|tangents|arg|getitem)_?\d++(?:_\d++)?\b",
        r"\1#",
        "inputs of a graph are numbered",
        "primals",
        "tangents",
        "arg",
        "getitem",
        digit=True,
    ),
    _row(r"\b(buf|op|tmp|_frozen_param|_tensor_constant)\d++\b", r"\1#", "buffers are numbered", digit=True),
    _row(r"\b(s|u|zf|zuf|ps|ks)\d++\b", r"\1#", "symbolic sizes are numbered", digit=True),
    _row(r"\btensor\([^()]*+\)", "tensor(#)", "values, and how they are printed", "tensor("),
    _row(r"(?<![\w.])\d++(?:x\d++)++(?!\w)", "#", "a shape, as in 3x4", "x", digit=True),
    _row(
        rf"{_NUMBER} ?(?:[nuµm]?s|secs?|seconds?|min|minutes?|hours?|bytes|[KMGT]i?B|B)\b",
        "#",
        "durations and sizes, whose unit depends on their value",
        digit=True,
    ),
    _row(
        rf"{_NUMBER}(?:[uU]?[lL]{{1,2}})?(?!\w)",
        "#",
        "numbers standing alone: values, indices, shapes, process ids; not those inside words",
        digit=True,
    ),
    _row(r"\[ ?#(?: ?, ?#)*+,? ?\]", "[#]", "a shape of any rank", "#"),
    _row(r"\( ?#(?: ?, ?#)*+,? ?\)", "(#)", "the same", "#"),
)


def without_escapes(text: str) -> str:
    """`text` without the colours and links that are meant for a terminal, and with plain line ends."""
    return _ESCAPE.sub("", text).replace("\r\n", "\n")


@lru_cache(maxsize=1024)  # what one repro prints on hundreds of builds is mostly the same
def settle(text: str) -> str:
    """`text` with its volatile parts removed, on one line; settling again changes nothing."""
    settled = _fold(without_escapes(text[:LONGEST]))
    for _ in range(_PASSES):  # a replacement may leave something for a row above it, seldom, and never for long
        before = settled
        digit = _DIGIT.search(settled) is not None  # no row puts one in
        for row in VOLATILE:
            if row.may_be_in(settled, digit=digit):
                settled = row.pattern.sub(row.replacement, settled)
        settled = _fold(settled)
        if settled == before:
            break
    return settled


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
