"""Which part of a message tells what failed: wrappers, advice and listings around it are taken away.

Torch wraps an error in others by putting their types in front of its text, and puts advice, arguments and stack traces behind
it. Both change from release to release while the error stays the same. Each table states why its rows are there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PEELS = 10
_LONGEST = 4_000  # characters of a line that are looked at
_SHORTEST = 12  # characters that must stand before advice that is cut inside a line

# A type in front of a message: `LoweringException: RuntimeError: …`. Names without a module must be called like exceptions,
# unless a wrapper stands before them that always puts the type there.
_TYPE = re.compile(
    r"(?:(?:[A-Za-z_]\w*+\.)++[A-Z_]\w*+"
    r"|[A-Z_]\w*(?:Error|Exception|Failed|Failure|Warning|Interrupt|Group)"
    r"|Unsupported|OutOfResources|GuardOnDataDependentSymNode|StopIteration):(?:[ \t]++|$|(?=\n))"
)
_ANY_TYPE = re.compile(r"[A-Z_]\w*+:(?:[ \t]++|$|(?=\n))")
WRAPPERS = frozenset({"InductorError", "LoweringException", "BackendCompilerFailed", "InternalTorchDynamoError"})
_RAISED = re.compile(r"backend='[^'\n]{0,200}' raised:\s++")
# Checks of the matrix products name the operator since 2.15: `mm: mat1 and mat2 shapes cannot be multiplied`.
_OPERATOR = re.compile(r"(?:aten::)?(?:matmul|linear|(?:add|badd)?b?mm|(?:add)?mv|v?dot): (?=\S)")
# Explanations of Dynamo: the first sentence names what it could not do, the rest is documentation.
_NEXT_SENTENCE = re.compile(r"(?:(?<=[.!])|(?<=[.!]['`]))\s+(?=[A-Z])(?!Message:)")
_FAKE_CALL = "Dynamo failed to run FX node "
_PRINTED = re.compile(r"(\w++)\((.*)\)")


def _any_of(*rows: tuple[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern, _ in rows), re.MULTILINE)


# (where a line begins, why the message ends there)
AFTERWORD = _any_of(
    (r"^Set TORCH\w*=", "how to see more, reworded often"),
    (r"^You can suppress this exception", "advice of Dynamo before 2.7"),
    (r"^[ \t]+target: ", "the lowering that failed: arguments follow"),
    (r"^[ \t]+args\[\d+\]: ", "its arguments, with buffers and layouts"),
    (r"^Found from ?:", "lines of the user's code"),
    (r"^from user code:", "lines of the user's code"),
    (r"^While executing %", "a node of an FX graph"),
    (r"^Original traceback:", "where FX saw the node first"),
    (r"^The following call raised this error:", "lines of the user's code"),
    (r"^The above exception was ", "a chain that was printed into the message"),
    (r"^[ \t]+Hint: ", "advice of Dynamo since 2.7"),
    (r"^[ \t]+Developer debug context:", "types of Dynamo's own"),
    (r"^ ?For more (?:details|information|debugging help)", "links"),
    (r"^CUDA kernel errors might be asynchronously", "the same under every CUDA error"),
    (r"^For debugging consider passing CUDA_LAUNCH_BLOCKING", "likewise"),
    (r"^Compile with [`']TORCH_USE_CUDA_DSA", "likewise"),
    (r"^Search for [`']cudaError", "likewise, since 2.9"),
    (r"^Exception raised from ", "the C++ stack, with addresses"),
    (r"^C\+\+ CapturedTraceback:", "the C++ stack"),
    (r"^frame #\d+: ", "the C++ stack"),
)

# (what follows within the line, why it is cut)
ASIDE = _any_of(
    (r" Hint: ", "advice, reworded from release to release"),
    (r"[.,;] [Pp]lease (?:report|file|check|visit|see|try|make sure|use|consider)\b", "likewise"),
    (r"[.,;:] (?:[Ss]ee|Visit|Check) [`h]", "likewise"),
    (
        r"[.,;] [Dd]id you (?:mean|forget)\b",
        "a guess at the intended name: Python prints it, but it is not in the message",
    ),
    (r"[.!] For more (?:details|information)", "likewise"),
    (r"\. (?:Try|Consider|Specify|Use|Reducing) ", "likewise"),
    (r"\. If (?:you|error|this)\b", "likewise"),
    (r"(?<=maximum recursion depth exceeded) \S", "`in comparison` and the like: where the stack happened to end"),
    (r" \([^()]*, line \d+\)$", "the place that Python adds to the message of a syntax error"),
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A first line that says nothing: `first` recognises it, `there` finds the part that does (its last group)."""

    first: re.Pattern[str]
    there: re.Pattern[str]
    why: str
    keeps_first: bool = True


ELSEWHERE: tuple[Elsewhere, ...] = (
    Elsewhere(
        re.compile(r"C\+\+ compile error|Error building extension|Error compiling objects|Failed to compile"),
        re.compile(
            r"^.{0,999}?\b(?:fatal )?error: (.+)$|^.{0,999}?(undefined reference to .+|cannot find -l\S+)$",
            re.MULTILINE,
        ),
        "the same for every program that does not compile: the first error of the compiler tells",
    ),
    Elsewhere(
        re.compile(r"at \d+:\d+:$"),
        re.compile(r"^[ \t]*\^[ \t]*\n\s*(\S.*)", re.MULTILINE),
        "Triton begins with the place in a generated kernel, and ends with what is wrong there, under a caret",
        keeps_first=False,
    ),
    Elsewhere(
        re.compile(r"(?:PTXAS error: )?(?:Internal Triton PTX codegen error|[`']?ptxas[`']? (?:failed with|raised) )"),
        re.compile(r"stderr:\s*\n(?:.*\n){0,50}?ptxas .{0,300}?(?:error|fatal) *: (.+)|stderr:\s*\n(.+)"),
        "the same for every failure of ptxas, and reworded: its own words tell, without the name of its temporary file",
        keeps_first=False,
    ),
    Elsewhere(
        re.compile(r"Weights only load failed"),
        re.compile(r"WeightsUnpickler error: (.+)"),
        "the same for every file that torch.load refuses, followed by a page of advice",
        keeps_first=False,
    ),
    Elsewhere(
        re.compile(r"."),
        re.compile(r"^  Explanation: (.+)$", re.MULTILINE),
        "Dynamo's first line is the kind of graph break; the explanation names the function or type",
    ),
)


def peel(kind: str, message: str) -> tuple[tuple[str, ...], str]:
    """(types that `message`, of an exception of type `kind`, has in front, from the outside; what they wrapped)."""
    types: list[str] = []
    rest = message.strip()
    for _ in range(_PEELS):
        last = types[-1] if types else kind
        if found := _RAISED.match(rest):
            rest = rest[found.end() :]
        elif found := (_ANY_TYPE if last in WRAPPERS else _TYPE).match(rest):
            types.append(found[0].split(":", 1)[0].rsplit(".", 1)[-1])
            rest = rest[found.end() :]
        elif found := _of_fake_call(rest):
            types.append(found[1])
            rest = _unquoted(found[1], found[2])
        else:
            break
    return tuple(types), rest


def _of_fake_call(message: str) -> re.Match[str] | None:
    """The exception that Dynamo prints at the end of a line about a call with fake tensors: `…): got KIND(PRINTED)`."""
    _, marker, after = message.partition(_FAKE_CALL)
    return _PRINTED.fullmatch(after.split("\n", 1)[0].partition("): got ")[2].rstrip()) if marker else None


def _unquoted(kind: str, printed: str) -> str:
    """The text of an exception that was printed as `KIND(PRINTED)`."""
    if kind == "KeyError" or len(printed) < len("''") or printed[0] != printed[-1] or printed[0] not in "'\"":
        return printed
    return printed[1:-1].replace("\\n", "\n").replace("\\'", "'")


def telling_part(message: str) -> str:
    """The line of `message` that tells, after wrappers were peeled off; two joined by a colon where it takes two."""
    cut = AFTERWORD.search(message)
    own = message[: cut.start()] if cut else message
    lines = [line.strip()[:_LONGEST] for line in own.split("\n") if line.strip()]
    if not lines:
        return ""
    first = _OPERATOR.sub("", lines[0], count=1) if _OPERATOR.match(lines[0]) else lines[0]
    if elsewhere := _elsewhere(first, message):
        return elsewhere
    if first.endswith(":") and len(lines) > 1:  # the line announces what the next one says
        first = f"{first} {lines[1]}"
    return _without_aside(first)


def _elsewhere(first: str, message: str) -> str | None:
    for row in ELSEWHERE:
        if row.first.match(first) and (found := row.there.search(message)):
            there = _NEXT_SENTENCE.split(" ".join(found[found.lastindex or 0].split()), maxsplit=1)[0]
            return _without_aside(f"{_without_aside(first)}: {there}" if row.keeps_first else there)
    return None


def _without_aside(line: str) -> str:
    cut = ASIDE.search(line, _SHORTEST)
    return (line[: cut.start()] if cut else line).rstrip(" .")
