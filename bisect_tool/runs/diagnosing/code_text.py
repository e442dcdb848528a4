"""The graphs and the code that the compiler made, out of its log: stage by stage, comparable between two builds. Pure.

`TORCH_LOGS` writes each artifact line by line, with its name in brackets. What differs from run to run or from release to
release and means nothing is taken out: comments, paths, hashes, the frame of a module of generated code.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# In the order in which the compiler makes them, with what each is called in the report.
STAGES: Mapping[str, str] = {
    "graph_code": "the graph of Dynamo",
    "aot_joint_graph": "the joint graph of AOTAutograd",
    "aot_graphs": "the graphs of AOTAutograd",
    "post_grad_graphs": "the graphs after Inductor's passes",
    "output_code": "the generated code",
}
_LINE = re.compile(
    r"^(?:\[rank\d+\]:?\s*)?[VDIWEC]\d{4} [\d:.]+ \d+ \S+:\d+\] (?:\[[^\]]*\] )*?\[__(?P<artifact>\w+)\] ?(?P<text>.*)$"
)
_COMMENT = re.compile(r"(?:^|\s)(?:#(?!include|pragma|define|if|endif|else)|//)\s?.*$")
_PLACES = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+[\w.+-]*")
_HASHES = re.compile(
    r"\b(?:c[a-z0-9]{50,52}|[0-9a-f]{32,64})\b|(?<![0-9a-f])[0-9a-f]{8}(?:[_-][0-9a-f]{4}){3}[_-][0-9a-f]{12}(?![0-9a-f])"
)
_STRAY = re.compile(r"\d+\.\d+\.\d+(?:\.dev\d+)?(?:\+\w+)?(?=['\"])")
_BEGINS = re.compile(r"^async_compile = AsyncCompile\(\)")
_ENDS = re.compile(r"^def (?:benchmark_compiled_module|get_args)\(|^if __name__ == ")
_KERNEL = re.compile(
    r"def (triton_\w+)\(|async_compile\.\w+\('(\w+)'|^(cpp_fused\w*) = async_compile"
    r"|(extern_kernels\.\w+|torch\.ops\.\w+\.\w+(?:\.\w+)?)\("
)
MOST_LINES = 400


@dataclass(frozen=True, slots=True)
class Compared:
    """How two builds' code differs. `first` is the first stage that differs, None when all are the same.

    `missing` are stages that only one of them came to. `diff` is a unified diff of `first`, cut after `MOST_LINES`.
    """

    first: str | None
    missing: tuple[str, ...]
    diff: str
    sentence: str


def stages_in(log: str) -> dict[str, tuple[str, ...]]:
    """The lines of every stage in a log, normalised, in the order of `STAGES`."""
    found: dict[str, list[str]] = {}
    for line in log.splitlines():
        if match := _LINE.match(line):
            found.setdefault(match["artifact"], []).append(match["text"])
    return {stage: tuple(_normalised(found[stage])) for stage in STAGES if stage in found}


def _normalised(lines: Sequence[str]) -> Iterator[str]:
    inside = not any(_BEGINS.match(line) for line in lines)
    framed = not inside
    for line in lines:
        if framed and _BEGINS.match(line):
            inside = True
        elif framed and _ENDS.match(line):
            inside = False
        if inside and (kept := _plain(line)):
            yield kept


def _plain(line: str) -> str:
    line = _COMMENT.sub("", line)
    for pattern, replacement in ((_PLACES, "<path>"), (_HASHES, "<hash>"), (_STRAY, "<version>")):
        line = pattern.sub(replacement, line)
    return line.rstrip()


def compare(
    without: Mapping[str, Sequence[str]], with_: Mapping[str, Sequence[str]], labels: tuple[str, str]
) -> Compared:
    """How the stages of the build with the failure differ from those of the build without; `labels` in that order reversed."""
    both = [stage for stage in STAGES if stage in without and stage in with_]
    missing = tuple(stage for stage in STAGES if (stage in without) != (stage in with_))
    first = next((stage for stage in both if list(without[stage]) != list(with_[stage])), None)
    diff = "" if first is None else _diff(without[first], with_[first], labels)
    return Compared(first, missing, diff, _sentence(without, with_, labels, first, missing))


def _diff(before: Sequence[str], after: Sequence[str], labels: tuple[str, str]) -> str:
    lines = list(difflib.unified_diff(list(before), list(after), *labels, lineterm=""))
    cut = [f"… {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *cut])


def _sentence(
    without: Mapping[str, Sequence[str]],
    with_: Mapping[str, Sequence[str]],
    labels: tuple[str, str],
    first: str | None,
    missing: Sequence[str],
) -> str:
    told = []
    if first is not None:
        told.append(f"the two builds differ first in {STAGES[first]}")
    elif without or with_:
        told.append("what both builds made of it is the same" if not missing else "as far as both came, it is the same")
    told += [f"{labels[1] if stage in without else labels[0]} never came to {STAGES[stage]}" for stage in missing[:1]]
    if first is not None:
        told += _kernels(without[first], with_[first], labels)
    return "; ".join(told) or "no code was logged"


def _kernels(before: Sequence[str], after: Sequence[str], labels: tuple[str, str]) -> list[str]:
    """What only one of two generated modules calls or defines."""
    counts = [
        Counter(name for line in lines for found in _KERNEL.findall(line) for name in found if name)
        for lines in (before, after)
    ]
    told = []
    for place, own in enumerate(counts):
        only = sorted(name for name in own if name not in counts[1 - place])
        if only:
            told.append(f"only {labels[place]} has {', '.join(only[:4])}" + (" and others" if len(only) > 4 else ""))
    return told
