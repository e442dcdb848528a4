"""A script for a report that has no code but says everything that matters in one sentence.

"Inductor fails to compile cumsum on a 0-dim constant tensor": one operation of torch (`OPERATIONS`), what its input is (rank,
constant or not, type), and that it fails compiled. The script that this makes is a guess and is marked as one: whether it
shows the failure tells the first build that is tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.spec.drafting.names import USUAL_IMPORTS
from bisect_tool.spec.drafting.report import LONGEST_LINE

_ALONG = "cumsum cumprod logcumsumexp cummax cummin softmax log_softmax flip squeeze unsqueeze unbind"
_WHOLE = (
    "sum mean prod std var amax amin argmax argmin max min norm all any median logsumexp aminmax count_nonzero "
    "nonzero unique sort argsort relu exp log sin cos tan tanh sigmoid sqrt rsqrt abs neg sign floor ceil "
    "round trunc erf erfinv reciprocal square isnan isinf isfinite clone contiguous flatten ravel trace diag "
    "tril triu inverse det cholesky t logical_not bitwise_not digamma lgamma expm1 log1p log2 log10 sinh cosh "
    "asin acos atan asinh acosh atanh frac exp2 sinc i0 nan_to_num positive angle conj"
)
_PAIRED = (
    "add sub mul div pow atan2 fmod remainder maximum minimum eq ne lt gt le ge hypot logaddexp copysign "
    "matmul mm dot outer bmm kron logical_and logical_or bitwise_and bitwise_or floor_divide true_divide "
    "heaviside nextafter cdist cross"
)
# The call of each operation, with `x` for its input.
OPERATIONS: dict[str, str] = {
    **{name: f"x.{name}({'0' if name not in {'softmax', 'log_softmax'} else 'dim=0'})" for name in _ALONG.split()},
    **{name: f"x.{name}()" for name in _WHOLE.split()},
    **{name: f"torch.{name}(x, x)" for name in _PAIRED.split()},
    "topk": "x.topk(1)",
    "roll": "x.roll(1, 0)",
    "diff": "x.diff()",
    "repeat": "x.repeat(2)",
    "tile": "x.tile(2)",
    "clamp": "x.clamp(0, 1)",
    "bincount": "x.bincount()",
    "histc": "x.histc(4)",
    "one_hot": "torch.nn.functional.one_hot(x)",
    "gelu": "torch.nn.functional.gelu(x)",
    "silu": "torch.nn.functional.silu(x)",
    "layer_norm": "torch.nn.functional.layer_norm(x, x.shape[-1:])",
}
# In everyday English these mean nothing of torch: only quoted, or before "on", "of" or "over" a tensor, are they operations.
_EVERYDAY = {
    "add", "all", "any", "eq", "ge", "gt", "le", "lt", "ne", "t", "log", "max", "min", "mean", "round", "sort",
    "sign", "diff", "repeat", "cross", "dot", "exp", "sum", "norm", "trace", "unique", "clone", "square",
    "floor", "angle", "positive", "flip", "outer", "median", "abs", "tile", "roll", "div", "sub", "frac",
    "conj", "mul", "det", "inverse", "sin", "cos", "tan", "prod", "std", "var", "diag", "flatten",
}  # fmt: skip
_SPELLED = {
    "cumulative sum": "cumsum",
    "cumulative product": "cumprod",
    "matrix multiplication": "matmul",
    "batched matrix multiplication": "bmm",
}
_RANK = re.compile(
    r"\b(?:(?P<number>[0-5])[- ]?d(?:im(?:ension(?:al|s)?)?)?|(?P<word>zero|one|two|three|four)[- ]dim\w*|"
    r"(?P<scalar>scalar))\b",
    re.IGNORECASE,
)
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_CONSTANT = re.compile(r"\b(?:constant|literal|compile-time (?:constant|value))\b", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:empty|zero-(?:size|element|length)\w*)\s+(?:tensor|input)", re.IGNORECASE)
_TYPE = re.compile(
    r"\b(?:torch\.)?(?P<name>float16|bfloat16|float32|float64|half|double|int8|int16|int32|int64|uint8|bool|"
    r"complex64|complex128)\b"
)
_COMPILED = re.compile(r"\b(?:compil\w+|inductor|dynamo|torch\.compile)\b", re.IGNORECASE)
_HELPS = re.compile(
    r"\b(?:add(?:ing)?|with|give|giving)\s+(?:an?\s+)?(?:explicit\s+|extra\s+)?dimension\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The script, what it was made of, and the line (0: the title) that says so.

    `other_shape` is a replacement that makes it work, if the report says that there is one.
    """

    text: str
    operation: str
    input: str
    line: int
    other_shape: tuple[str, str] | None


def speak(title: str, prose: Sequence[tuple[int, str]]) -> Spoken | None:
    """The script of the first sentence (the title first) that names one operation, its input and that it is compiled."""
    everything = [(0, title), *((number, line) for number, line in prose if line.strip())]
    compiled = any(_COMPILED.search(line[:LONGEST_LINE]) for _, line in everything[:8])
    for number, line in everything[:8]:
        text = line[:LONGEST_LINE]
        names = _operations(text)
        rank = _rank(text)
        if compiled and len(names) == 1 and rank is not None:
            helps = any(_HELPS.search(said[:LONGEST_LINE]) for _, said in everything)
            return _script(names[0], rank, text, number, helps=helps)
    return None


def _operations(text: str) -> list[str]:
    """The operations that a sentence names, each once."""
    lowered = text.lower()
    for words, name in _SPELLED.items():
        lowered = lowered.replace(words, f"`{name}`")
    found: dict[str, None] = {}
    for match in re.finditer(r"(?P<lead>[`'\"]|torch\.|\.)?\b(?P<name>[a-z_0-9]+)\b(?P<tail>\()?", lowered):
        name = match["name"].rstrip("_")
        if name in OPERATIONS and (
            name not in _EVERYDAY or match["lead"] or match["tail"] or _applied(lowered, match.end())
        ):
            found[name] = None
    return list(found)


def _applied(text: str, end: int) -> bool:
    return (
        re.match(
            r"\s+(?:on|of|over)\s+(?:an?\s+|the\s+)?(?:[\w-]+\s+){0,3}(?:tensor|scalar|input|constant)",
            text[end : end + 80],
        )
        is not None
    )


def _rank(text: str) -> int | None:
    match = _RANK.search(text)
    if match is None:
        return None
    if match["scalar"]:
        return 0
    return int(match["number"]) if match["number"] else _WORDS[match["word"].lower()]


def _script(name: str, rank: int, text: str, line: int, *, helps: bool) -> Spoken:
    size = 0 if _EMPTY.search(text) else 4
    shape = "()" if rank == 0 else f"({', '.join([str(size)] * rank)}{',' if rank == 1 else ''})"
    type_ = _TYPE.search(text)
    dtype = f", dtype=torch.{type_['name']}" if type_ else ""
    value = "1" if type_ and re.match(r"u?int|bool", type_["name"]) else "5.0"
    is_constant = _CONSTANT.search(text) is not None
    made = f'torch.full({shape}, {value}{dtype}, device="cuda")'
    call = OPERATIONS[name]
    body = [f"    x = {made}", f"    return {call}"] if is_constant else [f"    return {call}"]
    arguments, given = ("", "") if is_constant else ("x", "x")
    lines = [
        USUAL_IMPORTS["torch"], "", "", f"def program({arguments}):", *body, "", "",
        *([f"x = {made}"] if not is_constant else []),
        f"expected = program({given})",
        f"actual = torch.compile(program)({given})",
        'said = "wrong values: compiled differs from eager\\n"',
        "torch.testing.assert_close(actual, expected, msg=lambda told: said + told)",
    ]  # fmt: skip
    kind = "a constant" if is_constant else "an input"
    other = (f"full({shape}", "full((4,)") if rank == 0 and helps else None
    return Spoken("\n".join(lines) + "\n", name, f"{kind} of {rank} dimensions", line, other)
