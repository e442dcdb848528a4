"""The code of a draft: that of the report, changed where it must be, or some lines made of its words."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise

from bisect_tool.spec.drafting import checking
from bisect_tool.spec.drafting.blocks import Origin, parsed
from bisect_tool.spec.drafting.chores import NEEDS_OUTCOME, needs_assertion, of_kind
from bisect_tool.spec.drafting.code import Repro
from bisect_tool.spec.drafting.devices import Placed, place
from bisect_tool.spec.drafting.edits import Edit, Offsets, applied, shown_changes
from bisect_tool.spec.drafting.evidence import Evidence
from bisect_tool.spec.drafting.expected import Kind, short_match_of
from bisect_tool.spec.drafting.finding import Found, How, found, guessed
from bisect_tool.spec.drafting.spoken import Spoken

_CANNOT_CHANGE = (
    "the changes that the rules ask for are no Python in this code, which is as the report has it: see that a build that fails "
    "ends it with an error, and let it use `$BISECT_DEVICE` if it can run on a CPU"
)


@dataclass(frozen=True, slots=True)
class Script:
    """`text` is the code as it will run, `changes` its changed lines; `checked` the lines that let it fail, if any were added.

    `todo` is what keeps it from failing where the bug is and no rule could mend.
    """

    text: str
    source: Found[str]
    devices: Found[tuple[str, ...]]
    checked: checking.Checked | None
    todo: tuple[str, ...]
    reasons: tuple[Found[str], ...]
    changes: tuple[str, ...] = ()
    spoken: Spoken | None = None

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of the text."""
        tree = parsed(self.text)
        assert tree is not None
        return tree


def of_code(evidence: Evidence, repro: Repro) -> Script:
    """The code of the report."""
    failure = evidence.failure if evidence.kind.value is Kind.EXCEPTION else ""
    placed = place(repro.text, repro.tree, failure, repro.first)
    checked, todo = _checked(evidence, repro)
    added = [
        *(checked.edits if checked else ()),
        *_device_lines(repro, placed),
    ]  # before what changes in the same place
    text = applied(repro.text, [*added, *placed.edits])
    if parsed(text) is None:
        text, placed, checked, todo = repro.text, _as_it_stands(repro, placed), None, (*todo, _CANNOT_CHANGE)
    where = f"lines {repro.first} to {repro.last}" if repro.last > repro.first else f"line {repro.first}"
    return Script(
        text=text,
        source=found(where, "code-choice", _why_chosen(repro), repro.first),
        devices=placed.devices,
        checked=checked,
        todo=todo,
        reasons=tuple(_reasons(repro, placed, checked)),
        changes=tuple(shown_changes(_original(repro), text)),
    )


def of_words(evidence: Evidence, spoken: Spoken) -> Script:
    """Some lines that do what a sentence of the report says."""
    tree = parsed(spoken.text)
    assert tree is not None
    repro = Repro(spoken.text, tree, spoken.line, spoken.line, Origin.BARE)
    placed = place(spoken.text, tree, evidence.failure, spoken.line or None)
    why = f"no code shows the failure; made of the words {spoken.operation}, {spoken.input}, compiled"
    todo = (
        f"the report has no code of the failure: report.py was made of its words ({spoken.operation} on {spoken.input}). "
        "See that a build that fails fails with the message of the report"
    )
    return Script(
        text=applied(spoken.text, [*_device_lines(repro, placed), *placed.edits]),
        source=guessed("made of words", "code-spoken", why, spoken.line or None),
        devices=placed.devices,
        checked=checking.Checked((), "code-spoken", "compiled and eager must agree", "wrong values: "),
        todo=(todo,),
        reasons=(guessed("script", "code-spoken", why),),
        spoken=spoken,
    )


def _as_it_stands(repro: Repro, placed: Placed) -> Placed:
    """Where code that cannot be changed runs: only where it says, if that was to be changed."""
    if not placed.edits:
        return placed
    return Placed(
        found(("cuda",), "device-gpu-only", "the code names `cuda` in a way that cannot be changed", repro.first)
    )


def _original(repro: Repro) -> str:
    """The code as it stands in the report."""
    lead = "\n".join(repro.lead) + "\n" if repro.lead else ""
    return repro.text.replace(lead, "", 1) if lead else repro.text


def _why_chosen(repro: Repro) -> str:
    if repro.origin is Origin.SCRIPT:
        return "the whole script"
    if not repro.reasons:
        return repro.origin.value
    return f"{repro.origin.value}; it {', '.join(_third_person(reason) for reason in repro.reasons[:3])}"


def _third_person(reason: str) -> str:
    return reason.split(", or ", maxsplit=1)[0]


def _reasons(repro: Repro, placed: Placed, checked: checking.Checked | None) -> list[Found[str]]:
    reasons = []
    if repro.lead:
        reasons.append(guessed("imports", "code-imports", "imports that the report leaves out"))
    if repro.joined > 1:
        reasons.append(guessed("pieces", "code-joined", f"{repro.joined} pieces of code together define what they use"))
    if repro.mended:
        reasons.append(guessed("typography", "code-mended", repro.mended))
    if placed.edits:
        reasons.append(guessed("device", "device-either", "the tool chooses the device"))
    if checked:
        reasons.append(guessed("exit status", checked.rule, checked.why))
    return reasons


def _device_lines(repro: Repro, placed: Placed) -> list[Edit]:
    """The lines that ask for the device, after the first imports."""
    if not placed.edits:
        return []
    text = f'import os  {checking.MARK}\n\n{placed.name} = os.environ.get("BISECT_DEVICE", "cuda")  {checking.MARK}\n'
    offsets = Offsets(repro.text)
    at, lead = 0, ""
    for node, following in pairwise([*repro.tree.body, None]):
        is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if node is None or not (isinstance(node, (ast.Import, ast.ImportFrom)) or is_doc):
            break
        at, lead = offsets.after(node, following)
    return [Edit(at, at, lead + text, "the tool chooses the device")]


def _checked(evidence: Evidence, repro: Repro) -> tuple[checking.Checked | None, tuple[str, ...]]:
    """The checks that are added, and what the user has to do because none could be."""
    kind, raised, is_own = evidence.kind.value, evidence.raised, checking.judges(repro.tree)
    if kind is Kind.EXCEPTION:
        checked = checking.raise_again(repro.text, repro.tree) if raised else None
        is_silent = evidence.kind.how is How.DEFAULT and not raised and not is_own
        return checked, (NEEDS_OUTCOME,) if is_silent else ()
    if is_own:
        return None, ()
    if kind is Kind.WRONG:
        checked = checking.check_values(repro.text, repro.tree)
        return checked, () if checked else (needs_assertion(repro.tree),)
    if kind is Kind.WARNING and raised and raised.message and raised.cause.endswith("Warning"):
        return checking.raise_warning(repro.text, repro.tree, short_match_of(raised)), ()
    return None, of_kind(kind)
