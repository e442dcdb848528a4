"""Which code of a report is the repro.

Every piece of code is given points (`POINTS`); the most win, among equals the first. Code that cannot run is never taken: what
it reads must be defined in it, in the code before it, or be one of the imports that people leave out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bisect_tool.spec.drafting.blocks import Block, Divided, Origin, parsed
from bisect_tool.spec.drafting.cases import judged
from bisect_tool.spec.drafting.names import USUAL_IMPORTS, compiles, imported, undefined, usual_names
from bisect_tool.spec.drafting.report import Report, heading_of
from bisect_tool.spec.drafting.version_words import VERSIONS

MOST_BLOCKS = 200  # pieces of code that are looked at
MOST_JOINED = 12  # pieces before one that may define what it uses
POINTS = {
    "imports the package": 4,
    "calls torch.compile": 3,
    "uses words of the title": 2,
    "has the code of the title": 3,
    "stands under a heading such as `Minimal reproducer`": 3,
    "asserts, or leaves with a status": 1,
    "stands right under words that say that it fails": 2,
    "stands right under words that say that it works": -2,
    "stands under words such as `Workaround`, `Expected` or `Versions`": -6,
    "looks for versions": -6,
}
_REPRO = re.compile(
    r"\b(?:mre|mcve|repro\w*|minimal|reproduc\w+|script|example|code|to reproduce|test case|snippet)\b", re.IGNORECASE
)
_NOT_REPRO = re.compile(
    r"\b(?:work-?\s?arounds?|fix(?:e[sd])?|suggest\w*|proposed|expected (?:behaviou?r|result|code)|typical pattern|"
    r"instead|source|"
    r"relevant code|root cause|generated code|environment|versions?|output|graph)\b",
    re.IGNORECASE,
)
# In a whole sentence these say that the code below is none; the others are too common there.
_NOT_REPRO_SAID = re.compile(
    r"\b(?:work-?\s?arounds?|proposed|expected (?:behaviou?r|code)|typical pattern|generated code|root cause|instead)\b",
    re.IGNORECASE,
)
_LAST_CLAUSE = re.compile(r"[.;,]\s|\b(?:but|however|whereas|while|although)\b", re.IGNORECASE)
_LEAST_CODE = 10
_WORD = re.compile(r"[a-z_][a-z0-9_]{3,}")
_USELESS_WORDS = {
    "torch", "compile", "import", "with", "when", "from", "that", "this", "fails", "crash", "error", "wrong", "after", "under",
    "tensor", "result", "results", "backend", "silently", "using", "bug", "inductor", "python", "pytorch", "produces", "output",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Repro:
    """The code that shows the failure. `lead` are lines that were put in front of it, `joined` how many pieces it is made of.

    `tree` is that of `text`.
    """

    text: str
    tree: ast.Module
    first: int
    last: int
    origin: Origin
    lead: tuple[str, ...] = ()
    joined: int = 1
    mended: str = ""
    points: int = 0
    reasons: tuple[str, ...] = ()
    fence: int = 0

    @property
    def is_script(self) -> bool:
        """Whether it is the whole source and not a part of a text."""
        return self.origin is Origin.SCRIPT


@dataclass(frozen=True, slots=True)
class Chosen:
    """The repro, and for all other code that could have been one its lines and why not; `repro` None: there is none."""

    repro: Repro | None
    others: tuple[tuple[int, str], ...]


def choose(report: Report, divided: Divided, package: str | None) -> Chosen:
    """The code that is the repro; `package` is the distribution that is searched, None: it is not known yet."""
    candidates: list[Repro] = []
    others: list[tuple[int, str]] = []
    names_sympy = package is None and re.search(r"\bsympy\b", report.text) is not None
    usual = usual_names("sympy" if names_sympy else package, report.text)
    for number, block in enumerate(divided.blocks[:MOST_BLOCKS]):
        made = _made_whole(divided.blocks[max(0, number - MOST_JOINED) : number + 1], usual)
        if isinstance(made, str):
            others.append((block.first, made))
        elif made.origin not in {Origin.SCRIPT, Origin.SHELL} and not _acts(made.tree):
            others.append((block.first, "it only imports and defines"))
        else:
            candidates.append(_valued(made, report, package))
    best = max(candidates, key=lambda one: one.points, default=None)
    if best is not None and best.points < 1 and not best.is_script and "imports the package" not in best.reasons:
        others.append(
            (best.first, "it neither imports the package nor stands under a heading such as `Minimal reproducer`")
        )
        best = None
    if best is not None:
        others = [(line, why) for line, why in others if not best.first <= line <= best.last]
        others += [(one.first, _why_not(one)) for one in candidates if not best.first <= one.first <= best.last]
    return Chosen(best, tuple(sorted(dict(reversed(others)).items())))


def _why_not(repro: Repro) -> str:
    against = [reason for reason in repro.reasons if POINTS[reason] < 0]
    return f"it {against[0]}" if against else "other code comes first or has more of what makes a repro"


def _acts(tree: ast.Module) -> bool:
    """Whether it does something when it is run, beside importing and defining."""
    quiet = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Pass)
    rest = (node for node in tree.body if not isinstance(node, quiet))
    return any(isinstance(part, (ast.Call, ast.Assert, ast.Raise)) for node in rest for part in ast.walk(node))


def _made_whole(blocks: Sequence[Block], usual: Mapping[str, str]) -> Repro | str:
    """The last block with what it needs of those before it and of the usual imports; or what is missing."""
    block = blocks[-1]
    tree = parsed(block.code)
    assert tree is not None
    repro = Repro(block.code, tree, block.first, block.last, block.origin, mended=block.mended, fence=block.fence)
    if block.origin is Origin.SCRIPT:
        return repro
    for before in reversed(blocks[:-1]):
        missing = undefined(repro.tree) - set(USUAL_IMPORTS)
        if not missing:
            break
        repro = _joined(before, repro, missing)
    missing = undefined(repro.tree)
    if unknown := sorted(missing - set(usual)):
        shown = ", ".join(f"`{name}`" for name in unknown[:3]) + (" …" if len(unknown) > 3 else "")
        return f"nothing defines {shown}"
    return _with_lead(repro, [line for name, line in usual.items() if name in missing]) if missing else repro


def _joined(before: Block, repro: Repro, missing: frozenset[str] | set[str]) -> Repro:
    """With `before` in front of it, when that defines something that is missing."""
    tree = parsed(before.code)
    text = f"{before.code.rstrip()}\n\n{repro.text}"
    joined = parsed(text)
    if tree is None or joined is None or not (undefined(repro.tree) - undefined(joined)) & missing:
        return repro
    return replace(repro, text=text, tree=joined, first=before.first, joined=repro.joined + 1)


def _with_lead(repro: Repro, lines: Sequence[str]) -> Repro:
    lead = tuple(lines)
    future, body = _after_future(repro)
    text = future + "\n".join(lead) + "\n" + body
    tree = parsed(text)
    assert tree is not None
    return replace(repro, text=text, tree=tree, lead=lead)


def _after_future(repro: Repro) -> tuple[str, str]:
    """The text divided after its `from __future__` imports, which must stay first."""
    last = 0
    for node in repro.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            last = node.end_lineno or node.lineno
    lines = re.findall(r"[^\n]*\n|[^\n]+", repro.text)
    return "".join(lines[:last]), "".join(lines[last:])


def _valued(repro: Repro, report: Report, package: str | None) -> Repro:
    modules = imported(repro.tree)
    above, near, sentence = _above(report, repro.fence or repro.first)
    works, fails = _of_this_code(sentence)
    title = {word for word in _WORD.findall(report.title.lower()) if word not in _USELESS_WORDS}
    truths = {
        "imports the package": (bool(modules) if package is None else _is_of(package, modules)) and _is_meant(repro),
        "calls torch.compile": compiles(repro.tree),
        "uses words of the title": bool(title & set(_WORD.findall(repro.text.lower()))),
        "has the code of the title": any(one in _squeezed(repro.text) for one in _code_in(report.title)),
        "stands under a heading such as `Minimal reproducer`": _REPRO.search(above) is not None,
        "stands right under words that say that it fails": fails and not works,
        "stands right under words that say that it works": works and not fails,
        "asserts, or leaves with a status": _judges(repro.tree),
        "stands under words such as `Workaround`, `Expected` or `Versions`": not _REPRO.search(above)
        and (_NOT_REPRO.search(near) or _NOT_REPRO_SAID.search(above)) is not None,
        "looks for versions": "collect_env" in repro.text or _only_versions(repro.tree),
    }
    reasons = tuple(reason for reason, holds in truths.items() if holds)
    return replace(repro, points=sum(POINTS[reason] for reason in reasons), reasons=reasons)


def _of_this_code(sentence: str) -> tuple[bool, bool]:
    """(whether the sentence above says that the code works, that it fails); of a clause with a version neither."""
    clause = _LAST_CLAUSE.split(sentence)[-1]
    return (False, False) if VERSIONS.search(clause) else judged(clause)


def _is_meant(repro: Repro) -> bool:
    """Whether it is code of sympy for sure: formulas that a report shows as output are Python, too, with sympy's names."""
    is_assumed = any(line.startswith("from sympy") for line in repro.lead)
    own = "\n".join(line for line in repro.text.split("\n") if line not in repro.lead)
    return (
        not is_assumed
        or repro.origin is Origin.PROMPT
        or re.search(r"^\s*(?:from|import)\s+sympy\b", own, re.MULTILINE) is not None
    )


def _is_of(package: str, modules: Sequence[str]) -> bool:
    return package.lower().replace("-", "_") in {module.lower() for module in modules} or bool(
        package == "torch" and {"torch", "torchvision", "torchaudio"} & set(modules)
    )


def _code_in(title: str) -> list[str]:
    """The longest call in a title, without blanks: `f(a,g(b))`; none when it is too short to tell."""
    calls = re.finditer(r"[A-Za-z_][\w.]*\(", title)
    shown = (title[match.start() : _closing(title, match.end())] for match in calls)
    longest = max(map(_squeezed, shown), key=len, default="")
    return [longest] if len(longest) >= _LEAST_CODE else []


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at + 1
    return start


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def _above(report: Report, first: int) -> tuple[str, str, str]:
    """What is said just above a line: all of it, the heading or short line alone, and the sentence right above, if any.

    That is the nearest heading or short line within twelve lines, and the last line of text.
    """
    said: list[str] = []
    right_above = ""
    for number in range(first - 2, max(-1, first - 14), -1):
        line = report.lines[number].strip()[:200]
        if not line or line.startswith(("```", "~~~")):
            continue
        if number >= first - 3 and not heading_of(line):
            right_above = right_above or line
        if heading_of(line) or len(line) < 60:
            return " ".join([*said, line]), line, right_above
        said.append(line if len(said) < 1 else "")
    return " ".join(said), "", right_above


def _judges(tree: ast.Module) -> bool:
    exits = {"exit", "_exit", "assert_close", "assert_allclose", "assertEqual", "assertTrue", "assert_array_equal"}
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _last(node.func) in exits)
        for node in ast.walk(tree)
    )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _only_versions(tree: ast.Module) -> bool:
    """Imports and prints of versions, nothing else."""
    rest = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    return bool(rest) and all("version" in ast.dump(node) and isinstance(node, ast.Expr) for node in rest)
