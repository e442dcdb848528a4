"""What makes two failures the same failure.

An exception is known by the type and the words of its cause. The steps, each with its reason:

1. The cause decides (`raise X from Y`, members of groups): wrappers change, what went wrong first does not. What was being
   *handled* when another exception came up is not its cause: the later one is the failure. A cause that only says that some
   program ended (`MUTE_CAUSES`) is not followed.
2. Wrappers that torch writes in front of a message are peeled off, advice behind it is cut (`bisect_tool.trials.telling`).
3. A message that quotes the traceback of another process is that exception.
4. The line that tells is settled: numbers, paths and generated names go (`bisect_tool.trials.volatile`).
5. Only where these words are poor (`POOR`: none, or Python's own for any program) the place is added.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Sequence

from bisect_tool.trials.device_words import in_the_words_of_cuda, said_before
from bisect_tool.trials.failure import Signature, SignatureKind
from bisect_tool.trials.observation import Raised
from bisect_tool.trials.telling import peel, telling_part
from bisect_tool.trials.traceback_text import NOISE, parse
from bisect_tool.trials.volatile import is_made_up, settle, without_escapes, without_places

LONGEST_TITLE = 160
LONGEST_SAID = 32 * 1024  # characters of output that are searched for the last words of C++; a long stack follows them
_DEEPEST = 4
_RECURSES = 3  # times that a frame must occur to belong to a recursion

Frames = Sequence[tuple[str, str]]

MUTE_CAUSES = frozenset(
    {
        "CalledProcessError",  # "Command … returned non-zero exit status 1": the exception above it quotes the output
        "StopIteration",  # Python's own cause of "generator raised StopIteration"
    }
)

RENAMED = {"AcceleratorError": "RuntimeError"}  # since 2.8, for the same errors of CUDA

# Words that Python uses for any program, and the type that it raises with them: some wrappers keep only the words.
POOR: tuple[tuple[re.Pattern[str], str | None], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"", None),
        (
            r"(?:tuple|list|string|bytes|bytearray|deque|range object|array) (?:assignment )?index out of range",
            "IndexError",
        ),
        (r"pop from (?:an )?empty .*", None),
        (r"(?:float |integer )?(?:division|modulo)(?: or modulo)? by zero|float modulo", "ZeroDivisionError"),
        (r"maximum recursion depth exceeded", "RecursionError"),
        (r"'\w+' object has no attribute '\w+'", "AttributeError"),
        (r"'\w+' object is not (?:iterable|callable|subscriptable|an iterator)", "TypeError"),
        (r"'\w+' object (?:does not support item|cannot be interpreted as|doesn't support item).*", "TypeError"),
        (r"(?:argument of type|cannot unpack non-iterable|object of type) '?\w+'?.*", "TypeError"),
        (r"(?:bad operand type|unsupported operand type\(s\)) for .*", "TypeError"),
        (r"'\S+' not supported between instances of .*", "TypeError"),
        (r"(?:not enough|too many) values to unpack.*", "ValueError"),
        (r"(?:dictionary|Set) changed (?:size|keys) during iteration", "RuntimeError"),
        (r"generator raised StopIteration", "RuntimeError"),
        (r"math domain error", "ValueError"),
        (r"\S+ is not in list|\S+\.(?:remove|index)\(x\): x not in \S+", "ValueError"),
        (r"(?:Tensor-likes|Scalars|Booleans|Sparse\w* tensors?) are not (?:close|equal)!", "AssertionError"),
        (r"Not equal to tolerance .*", "AssertionError"),
    )
)
_STANDARD = re.compile(r"/lib(?:64)?/python3(?:\.\d+t?)?/(?!.*(?:site|dist)-packages/)|^<frozen |/python3\d+\.zip/")
_COMPARES = re.compile(r"(?:^|/)(?:torch|numpy)/testing/|(?:^|/)unittest/")
# What runs only while code is compiled, not when compiled code is called.
_COMPILES = re.compile(
    r"/torch/(?:_dynamo/(?:convert_frame|symbolic_convert|output_graph|bytecode_transformation)"
    r"|_inductor/(?:graph|scheduler|lowering|cpp_builder|async_compile|fx_passes/.*|codegen/.*)|export/_trace)\.py$"
    r"|/triton/(?:compiler/code_generator|backends/.*/compiler)\.py$"
)
_PACKAGES = re.compile(r"^.*(?:site|dist)-packages/")
_TRACEBACK = re.compile(r"^(?![ \t]*+[+|]).{0,200}?Traceback.{0,60}\(most recent call last\):[ \t]*+$", re.MULTILINE)
_SAID_ON_ABORT = re.compile(
    r"^[ \t]*+what\(\): +(.+)$|^.{0,999}?(Assertion .{1,999} failed\.?)$|^(.{0,999}?Check failed: .+)$"
    r"|^((?:double free|free\(\): |malloc\(\): |corrupted |munmap_chunk).*)$|^(LLVM ERROR: .+)$",
    re.MULTILINE,
)


def signature_of_chain(chain: Sequence[Raised], output: str = "") -> Signature:
    """The signature of an uncaught exception; `chain` (not empty) runs from the exception that was printed last inwards.

    What a kernel or its compiler has printed is taken from `output`, where the exception says only that there was something.
    """
    types, told, frames = _unwrapped(chain)
    told = in_the_words_of_cuda(told)
    if said := said_before(told, output):
        told = f"{told}: {said}"
    poor, kind = _poverty(types[-1], told)
    if kind and kind != types[-1]:
        types.append(kind)
    where = _where(frames, recursion=types[-1] == "RecursionError") if poor else None
    title = ": ".join([*types, told] if told else types)
    if not told and where:
        title += f" in {where}"
    types[-1] = RENAMED.get(types[-1], types[-1])
    return Signature(SignatureKind.EXCEPTION, settle(told), tuple(types), where, _shortened(title))


def signature_of_signal(number: int, frames: Frames, output: str = "") -> Signature:
    """The process was ended by signal `number`; `frames` (outermost first) are those that faulthandler printed.

    What C or C++ says before it aborts (`what():`, a failed assertion) is taken from `output`.
    """
    name = _signal_name(number)
    said = _SAID_ON_ABORT.search(output[-LONGEST_SAID:]) if name == "SIGABRT" else None
    words = in_the_words_of_cuda(next((group for group in said.groups() if group), "")) if said else ""
    where = _where(frames)
    title = name + (f" in {where}" if where else "") + (f": {words.strip()}" if words else "")
    return Signature(SignatureKind.SIGNAL, settle(f"{name} {words}"), (), where, _shortened(title))


def signature_of_timeout(seconds: float, frames: Frames = ()) -> Signature:
    """The tool ended the trial after `seconds`; `frames` (outermost first) are those that faulthandler printed then.

    The exact place depends on the moment and on the release, so that only this is told apart: whether a compiler was at work.
    The title also says where in the repro it was, and where below that.
    """
    title = f"timeout: no end after {seconds:g} s"
    if places := places_of(frames):
        title += " in " + " > ".join(places)
    is_compiling = any(_COMPILES.search(file) for file, _ in frames)
    return Signature(SignatureKind.TIMEOUT, "compiling" if is_compiling else "", title=_shortened(title))


def places_of(frames: Frames) -> tuple[str, ...]:
    """Where in the repro `frames` (outermost first) are, and where below that outside the standard library."""
    own = next((frame for frame in reversed(frames) if not _is_installed(frame[0])), None)
    found = (_where([own]) if own else None, _where(frames))
    return tuple(dict.fromkeys(place for place in found if place))


def signature_of_check(name: str, message: str) -> Signature:
    """A check that the repro reported as failed."""
    told = message.strip().split("\n", 1)[0]
    title = f"check {name} failed" + (f": {told}" if told else "")
    return Signature(SignatureKind.CHECK, f"{name}: {settle(message)}", title=_shortened(title))


def signature_of_exit(status: int, output: str) -> Signature:
    """The process ended with `status` and no exception: scripts say why in their last line."""
    told = last_line(output)
    title = f"exit status {status}" + (f": {told}" if told else "")
    return Signature(SignatureKind.EXIT, f"{status}: {settle(told)}", title=_shortened(title))


def last_line(output: str) -> str:
    """The last line of `output` that is not blank, a warning or a line of a log; empty when there is none."""
    for line in reversed(without_escapes(output).split("\n")):
        if line.strip() and not NOISE.match(line) and line.strip() != "warnings.warn(":
            return line.split("\r")[-1].strip()
    return ""


def _unwrapped(chain: Sequence[Raised], depth: int = 0) -> tuple[list[str], str, Frames]:
    """(types from the wrapper to the cause, the line that tells, the frames of the cause)."""
    followed = _followed(chain)
    cause = followed[-1]
    types = [_short(raised.type) for raised in followed]
    quoted = _quoted_chain(cause.message) if depth < _DEEPEST else ()
    wrappers, rest = peel(types[-1], cause.message)
    types += wrappers
    if quoted:
        inner, told, frames = _unwrapped(quoted, depth + 1)
        return _without_repeats([*types, *inner]), told, frames
    return _without_repeats(types), telling_part(rest), cause.frames


def _followed(chain: Sequence[Raised]) -> list[Raised]:
    """The exceptions from the outermost to the one that decides."""
    followed = [chain[0]]
    for raised in chain[1:]:
        if raised.relation not in {"cause", "member"} or _short(raised.type) in MUTE_CAUSES:
            break
        followed.append(raised)
    return followed


def _quoted_chain(message: str) -> tuple[Raised, ...]:
    """The exception whose traceback stands in `message`: of a worker, a subprocess, the TorchScript interpreter."""
    found = _TRACEBACK.search(message)
    if found is None:
        return ()
    return parse(_TRACEBACK.sub("Traceback (most recent call last):", message[found.start() :]))


def _poverty(kind: str, told: str) -> tuple[bool, str | None]:
    """Whether the words are too poor to tell one failure from another, and the type that belongs to them."""
    for pattern, belongs in POOR:
        if pattern.fullmatch(told):
            return True, belongs
    settled = settle(told)
    is_volatile_key = kind == "KeyError" and (settled != told or not told.startswith(("'", '"')))
    return is_volatile_key or not re.search(r"[^\W\d_]{2}", settled), None


def _where(frames: Frames, *, recursion: bool = False) -> str | None:
    """`FILE:FUNCTION` of the innermost frame outside the standard library; of a recursion, of its outermost frame."""
    own = [frame for frame in frames if not _STANDARD.search(frame[0]) and not _COMPARES.search(frame[0])]
    if not own and not frames:
        return None
    file, function = (own or list(frames))[-1]
    if recursion:
        times = Counter(own)
        file, function = next((frame for frame in own if times[frame] >= _RECURSES), (file, function))
    return f"{_module(file)}:{settle(function)}"


def _is_installed(file: str) -> bool:
    return bool(_STANDARD.search(file) or _PACKAGES.search(file) or is_made_up(file))


def _module(file: str) -> str:
    if is_made_up(file):
        return "<generated>"
    inside = _PACKAGES.sub("", file)
    return inside if inside != file else file.rsplit("/", 1)[-1]


def _short(kind: str) -> str:
    return kind.rsplit(".", 1)[-1]


def _without_repeats(types: Sequence[str]) -> list[str]:
    return [kind for at, kind in enumerate(types) if at == 0 or types[at - 1] != kind]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shortened(title: str) -> str:
    line = without_places(" ".join(without_escapes(title).split()))
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1] + "…"
