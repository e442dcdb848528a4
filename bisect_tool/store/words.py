"""The words by which a failure is found again. Pure.

A word is a name as programs write it, in small letters: `runtimeerror`, `post_grad`, `aten.mm`. Of a dotted name every end is a
word (`torch.nn.functional.linear` is found by `functional.linear` and by `linear`), and so is each of its parts; of an operator
with an overload also the operator (`aten.mm` of `torch.ops.aten.mm.default`). Numbers and the words of every text are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

LONGEST = 100  # characters of a word; longer ones are generated, and nobody asks for them
MOST = 300  # words of one failure

_NAME = re.compile(r"(?<!\w)[^\W\d]\w*+(?:(?:\.|::)[^\W\d]\w*+)*+")
_WORDS = """
a an and are as at be but by can for from has have in is it its no none not of on or that the this to was were with
call def else false file if import last line most raise recent return self traceback true py
"""
_COMMON = frozenset(_WORDS.split())
_DEEPEST = 8  # parts of a dotted name that are told apart
_SPACES = ("aten", "prims", "prim", "quantized", "_c10d_functional")


def words_of(texts: Iterable[str], most: int = MOST) -> list[str]:
    """The words of `texts`, each once, in the order in which they come; at most `most`."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _NAME.finditer(text):
            for word in _forms(match.group().replace("::", ".").lower()):
                found.setdefault(word)
            if len(found) >= most:
                return list(found)[:most]
    return list(found)


def names_in(text: str) -> list[str]:
    """What the one name `text` may be found by, the most telling first: as it is, the operator, its last part."""
    name = text.strip().strip("`'\"").removesuffix("()").replace("::", ".").lower()
    operators = list(_operators(name.split(".")))
    # What follows the name of an operator is an overload: `default`, `out`.
    forms = [name, *operators, (operators[-1] if operators else name).rsplit(".", 1)[-1]]
    return [form for form in dict.fromkeys(forms) if 0 < len(form) <= LONGEST and form not in _COMMON]


@lru_cache(maxsize=4096)  # what tracebacks name is mostly the same
def _forms(name: str) -> tuple[str, ...]:
    return tuple(_each_form(name))


def _each_form(name: str) -> Iterator[str]:
    parts = name.split(".")[:_DEEPEST]
    if len(parts) > 1:
        forms = [".".join(parts[at:]) for at in range(len(parts) - 1)]
        yield from (form for form in (*forms, *_operators(parts)) if len(form) <= LONGEST)
    yield from (part for part in parts if 1 < len(part) <= LONGEST and part not in _COMMON)


def _operators(parts: list[str]) -> Iterator[str]:
    """`aten.mm` of `torch.ops.aten.mm.default` and of `aten.mm.out`; the namespace of an own operator follows `ops`."""
    for at, part in enumerate(parts[:-1]):
        if part == "ops" and len(parts) > at + 2:
            yield ".".join(parts[at + 1 : at + 3])
        elif part in _SPACES:
            yield ".".join(parts[at : at + 2])
