"""What a report says of the circumstances of a failure: variables, builds, and words for what may matter. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bisect_tool.builds import versions

MOST = 200_000  # characters that are looked at
_ASSIGNED = re.compile(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]*)=(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'`,;)]+)")
_IN_PYTHON = re.compile(
    r"environ(?:\[|\.setdefault\()\s*[\"']([A-Z][A-Z0-9_]+)[\"'](?:\]\s*=|,)\s*[\"']([^\"'\n]*)[\"']"
)
# Variables that say where things lie or that a trial sets itself; and those that only make programs say more.
_OTHERS = re.compile(
    r"^(BISECT_|PYTHON|LD_|UV_|PIP_|.*(PATH|_DIR|_HOME)$|.*(TOKEN|KEY|SECRET|PASSWORD)|TORCH_LOGS|TORCHDYNAMO_VERBOSE|"
    r"TORCH_SHOW_CPP_STACKTRACES|TORCH_TRACE|TORCH_COMPILE_DEBUG|CUDA_VISIBLE_DEVICES$|CUDA_DEVICE_ORDER$)"
)
_VERSION = re.compile(
    r"(?<![\w.+-])v?(\d{1,2}\.\d{1,3}\.\d{1,3}(?:\.?(?:dev|rc|post)\d{1,12})?(?:\+[a-z0-9.]{2,16})?)(?![\w]|\.\d)"
)
_NAMED = re.compile(
    r"\b(?:py)?torch\b\W{0,4}(?:(?:version|nightly|release|build|wheel|is|was|v)\b\W{0,4}){0,3}$", re.IGNORECASE
)
_WORDS = {
    (
        "dynamic",
        "yes",
    ): r"dynamic\s*=\s*True|dynamic shapes?|mark_dynamic|symbolic (?:shapes?|sizes?)|backed symint|\bs0\b",
    ("dynamic", "no"): r"dynamic\s*=\s*False|static shapes?",
    ("dtype", "float64"): r"float64|torch\.double|\bfp64\b|double precision",
    ("dtype", "bfloat16"): r"bfloat16|\bbf16\b",
    ("dtype", "float16"): r"(?<!b)float16|torch\.half|\bfp16\b",
    ("caches", "off"): r"FORCE_DISABLE_CACHES|without (?:the )?cache|cold cache",
    ("caches", "warm"): r"second run|warm cache|cache hit|FxGraphCache|stale cache",
    ("repeats", ""): r"\bflak[ye]|sometimes|intermittent|nondeterministic|non-deterministic|race condition|randomly",
    ("threads", "1"): r"set_num_threads|OMP_NUM_THREADS|single[- ]thread",
    ("cpu", ""): r"avx-?512|avx-?2|\bSIMD\b|vectori[sz]|VecMask|\bISA\b",
    ("device", "cuda"): r"\bcuda\b|\bGPU\b",
    ("device", "cpu"): r"\bon cpu\b|device\s*=\s*[\"']cpu",
}


@dataclass(frozen=True, slots=True)
class Mentions:
    """`variables` as (name, value), `builds` as versions of torch, `words`: (axis, value) pairs that the text speaks of."""

    variables: tuple[tuple[str, str], ...] = ()
    builds: tuple[str, ...] = ()
    words: frozenset[tuple[str, str]] = frozenset()

    def speaks_of(self, axis: str, value: str) -> bool:
        """Whether the text has words for that value, or for the axis as a whole."""
        return (axis, value) in self.words or (axis, "") in self.words


def mentions_in(text: str) -> Mentions:
    """What `text` mentions, each once, in the order in which it comes."""
    text = text[:MOST]
    pairs = [*_ASSIGNED.findall(text), *_IN_PYTHON.findall(text)]
    variables = {name: value.strip("\"'") for name, value in pairs if not _OTHERS.match(name)}
    found = frozenset(key for key, pattern in _WORDS.items() if re.search(pattern, text, re.IGNORECASE))
    return Mentions(tuple(variables.items()), tuple(dict.fromkeys(_builds(text))), found)


def _builds(text: str) -> list[str]:
    """Versions that stand behind the name of torch."""
    return [
        match[1]
        for line in text.split("\n")
        for match in _VERSION.finditer(line)
        if _NAMED.search(line[: match.start()]) and versions.parsed(match[1]) is not None
    ]
