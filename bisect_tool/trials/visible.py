"""What a trial printed, made fit to be shown: nothing in it acts on a terminal, reorders a line or hides. Pure.

Only in what people are shown; what makes two failures the same is not touched, so that stored results keep their names.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from bisect_tool.trials.failure import CannotJudge, Failed, FoundFailure, MachineAtFault, Passed, Verdict

# Control characters but for the tabulator and the end of a line, marks of direction and width, separators of lines, tags.
_ACTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]|\r(?!\n)"
)


def visible(text: str) -> str:
    """`text` with what would act on whoever shows it written as an escape."""
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def made_visible(verdict: Verdict) -> Verdict:
    """The verdict with everything visible that is shown of it."""
    match verdict:
        case Passed():
            return verdict
        case Failed(failures):
            return Failed(tuple(_failure(one) for one in failures))
        case CannotJudge(reason):
            return CannotJudge(visible(reason))
        case MachineAtFault(reason):
            return replace(verdict, reason=visible(reason))
        case _:
            assert_never(verdict)


def _failure(failure: FoundFailure) -> FoundFailure:
    signature = replace(failure.signature, title=visible(failure.signature.title))
    return replace(failure, signature=signature, text=visible(failure.text))
