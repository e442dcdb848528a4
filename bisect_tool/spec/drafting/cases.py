"""The ways to run the repro: which of them must pass on every build, and which are the question.

With `torch.compile` in the code, the control `eager` runs it without the compiler; `aot_eager` is one where the report says so
or blames Inductor; `static` and `below-N` are what the report names as working. Without it, the options of the script and
the command lines of the report make the cases, else there is one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bisect_tool.spec.drafting.edits import Offsets
from bisect_tool.spec.drafting.finding import Found, found, guessed
from bisect_tool.spec.drafting.names import backend_of, compile_calls, compiles, keyword
from bisect_tool.spec.drafting.report import LONGEST_LINE, slug

Lines = Sequence[tuple[int, str]]
_GOOD = re.compile(
    r"\b(?:work\w*|correct\w*|succe\w+|fine|ok|pass\w*|right|run success\w+|matches|no (?:error|issue|problem))\b|✅|✓",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:fail\w*|crash\w*|wrong|incorrect\w*|error\w*|broken|reproduc\w*|affected|not work\w*|doesn.t work|"
    r"also (?:shows?|has))\b|❌|✗",
    re.IGNORECASE,
)
_NOT_GOOD = re.compile(
    r"(?:\b(?:not|never|no longer|cannot|neither)\s+|n['’]t\s+)(?:\w+\s+)?"
    r"(?:work\w*|correct\w*|right|fine|ok|pass\w*|succe\w+|match\w*)\b",
    re.IGNORECASE,
)
_INDUCTOR = re.compile(
    r"\bInductor(?:Error)?\b|_inductor\b|LoweringException|CppCompileError|\btriton_\w+", re.IGNORECASE
)
_DYNAMO_ONLY = re.compile(
    r"_dynamo\.exc\.(?:Unsupported|InternalTorchDynamoError|TorchRuntimeError|Uncaptured|UserError)"
)
_WATCHES_COMPILER = re.compile(
    r"CompileCounter|\bexplain\(|utils\.counters|run_and_get_code|_inductor\.metrics|get_compile|assert_compiled|frame_count"
)
_EAGER_TOO = re.compile(
    r"(?<!_)\beager(?: mode)?\b[^.;,]{0,20}\b(?:also|too|as well)\b[^.;,]{0,20}(?:fail|crash|wrong|rais|error|broken|affected)"
    r"|(?<!_)\beager(?: mode)?\b[^.;,]{0,20}(?:fail|crash|wrong|error)\w*[^.;,]{0,10}\b(?:also|too|as well)\b"
    r"|\b(?:also|even|both)\b[^.;,]{0,30}\b(?:in|with|under) eager\b|\bboth eager and\b[^.;]{0,40}\b(?:fail|crash|wrong|rais)"
    r"|(?<!not )(?<!never )\b(?:same (?:\w+ )?(?:error|crash|failure|exception)|fails?|crash\w*|raises)\b[^.;,]{0,12}"
    r"\b(?:in|with|under) (?:plain )?eager\b(?! (?:is|was|works?)\b)"
    r"|(?<!_)\beager(?: mode)? (?:\w+ ){0,2}the same (?:\w+ )?(?:wrong|error|crash|failure|exception)"
    r"|\bnot (?:specific|related|limited) to `?torch\.compile|\bwith and without `?torch\.compile",
    re.IGNORECASE,
)
_STATIC = re.compile(
    r"\bstatic\b[^.;]{0,60}?\b(?:work\w*|ok|fine|pass\w*|correct\w*)\b|dynamic\s*=\s*False[^.;]{0,40}\b(?:work\w*|"
    r"ok|fine|pass\w*)|only (?:with|under|when) `?dynamic",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"(?:>=|≥|at least|starting (?:from|at|with)|(?:boundary|threshold|cutoff|limit)\s+(?:is|"
    r"of)?\s*(?:at\s+)?(?:[a-z_]+\s*=+\s*)?)\s*(?P<from>\d{1,9})\b"
    r"|(?P<above>\d{1,9})\s*(?:\+(?!\d)|and (?:above|up|more|larger|higher|beyond)|or (?:more|above|larger|higher|greater))"
    r"|(?:(?<![-=<>])>|(?:greater|larger|more|bigger|longer) than|above|exceeds?)\s*(?P<over>\d{1,9})\b",
    re.IGNORECASE,
)
_OTHER_THING = re.compile(
    r"(?:python|cuda|capability|version|torch|triton|driver|gcc|sm_?|release|pytorch|rank|epoch)\W*$", re.IGNORECASE
)
_CONTROLS = {"eager", "aot_eager", "none", "off", "cpu"}


@dataclass(frozen=True, slots=True)
class DraftCase:
    """A case of the spec; `is_control`: it must pass on every build."""

    name: str
    args: tuple[str, ...] = ()
    is_control: bool = False


def make_cases(
    tree: ast.Module, text: str, prose: Lines, blamed: str, commands: Sequence[tuple[int, tuple[str, ...], str]]
) -> list[Found[DraftCase]]:
    """The cases. `text` is the code as it will run, `blamed` what the report quotes of the failure and its title."""
    if own := list(_of_options(tree, prose)):
        return own
    if commands:
        return list(_of_commands(commands))
    if not compiles(tree):
        return [guessed(DraftCase("repro"), "case-one", "the script as it is")]
    controls = [
        *_eager(text, prose),
        *_aot_eager(prose, blamed),
        *_static(tree, text, prose),
        *_below(tree, text, prose),
    ]
    test = found(
        DraftCase("inductor" if _uses_inductor(tree) else "compiled"), "case-compiled", "the code as the report has it"
    )
    return [
        *(one for one in controls if one.value.is_control),
        *(one for one in controls if not one.value.is_control),
        test,
    ]


def says_it_works(text: str) -> bool:
    """Whether words such as "works" stand in a text, and none that say the opposite."""
    is_good, is_bad = judged(text)
    return is_good and not is_bad


def judged(text: str) -> tuple[bool, bool]:
    """(whether it says that something works, whether it says that it does not); "not ok" says only the second."""
    plain = _NOT_GOOD.sub(" ", text)
    return _GOOD.search(plain) is not None, plain != text or _BAD.search(plain) is not None


def needs_runner(cases: Sequence[Found[DraftCase]]) -> bool:
    """Whether a case needs `repro.py` to change what the code of the report does."""
    return any(word in {"--backend", "--replace"} for case in cases for word in case.value.args) and any(
        case.rule.startswith(("case-eager", "case-aot", "case-static", "case-below", "case-shape")) for case in cases
    )


def _uses_inductor(tree: ast.Module) -> bool:
    calls = compile_calls(tree)
    return not calls or any(backend_of(call) in {"inductor", ""} for call in calls)


def _eager(text: str, prose: Lines) -> Iterator[Found[DraftCase]]:
    fails = any(_EAGER_TOO.search(line[:LONGEST_LINE]) for _, line in prose)
    if not fails and not _WATCHES_COMPILER.search(text):
        case = DraftCase("eager", ("--backend", "eager"), is_control=True)
        yield guessed(case, "case-eager", "without the compiler the code must pass on every build")


def _aot_eager(prose: Lines, blamed: str) -> Iterator[Found[DraftCase]]:
    args = ("--backend", "aot_eager")
    for number, line in prose:
        for clause in re.split(r"[.;]\s|,\s(?:but|while)\s|\b(?:but|while|whereas)\b", line[:LONGEST_LINE]):
            if "aot_eager" not in clause:
                continue
            is_good, is_bad = judged(clause)
            if is_good and not is_bad:
                yield found(
                    DraftCase("aot_eager", args, is_control=True),
                    "case-aot-eager",
                    "the report says that aot_eager works",
                    number,
                )
                return
            if is_bad and not is_good:
                yield found(
                    DraftCase("aot_eager", args), "case-aot-eager", "the report says that aot_eager fails, too", number
                )
                return
    if _INDUCTOR.search(blamed) and not _DYNAMO_ONLY.search(blamed):
        case = DraftCase("aot_eager", args, is_control=True)
        yield guessed(case, "case-aot-eager", "the report blames Inductor, which this leaves out")


def _static(tree: ast.Module, text: str, prose: Lines) -> Iterator[Found[DraftCase]]:
    dynamic = [call for call in compile_calls(tree) if _is_true(keyword(call, "dynamic"))]
    if not dynamic or text.count("dynamic=True") != 1:
        return
    case = DraftCase("static", ("--replace", "dynamic=True", "dynamic=False"), is_control=True)
    line = next((number for number, said in prose if _STATIC.search(_NOT_GOOD.sub(" ", said[:LONGEST_LINE]))), None)
    if line is not None:
        yield found(case, "case-static", "the report says that static sizes work", line)
    elif len(dynamic) < len(compile_calls(tree)):
        yield guessed(case, "case-static", "the code also compiles without dynamic=True, first")


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _below(tree: ast.Module, text: str, prose: Lines) -> Iterator[Found[DraftCase]]:
    for number, line in prose:
        for match in _LEAST.finditer(line[:LONGEST_LINE]):
            if _OTHER_THING.search(line[: match.start()][-20:]):
                continue
            least = int(match["over"]) + 1 if match["over"] else int(match["from"] or match["above"])
            change = _replacement(tree, text, least) if least >= 2 else None
            if change:
                case = DraftCase(f"below-{least}", ("--replace", *change), is_control=True)
                yield guessed(case, "case-below", f"the report names {least} as the least that fails", number)
                return


def _replacement(tree: ast.Module, text: str, number: int) -> tuple[str, str] | None:
    """What to replace in the text, and by what, to have `number` less one; None unless it stands there once."""
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == number
    ]
    if len(nodes) != 1:
        return None
    offsets = Offsets(text)
    start, end = offsets.of(nodes[0])
    left, right = start, end
    while text.count(text[left:right]) != 1:
        grown = (max(0, left - 1), min(len(text), right + 1))
        if grown == (left, right) or right - left > 60 or "\n" in text[grown[0] : grown[1]]:
            return None
        left, right = grown
    left, right = _to_words(text, left, right)
    old = text[left:right]
    return (
        (old, text[left:start] + str(number - 1) + text[end:right])
        if text.count(old) == 1 and text[start:end] == str(number)
        else None
    )


def _to_words(text: str, left: int, right: int) -> tuple[int, int]:
    """Grown to whole words, so that people can read what is replaced."""
    while left > 0 and re.match(r"\w", text[left - 1]) and re.match(r"\w", text[left]):
        left -= 1
    if text[left] in "([":
        while left > 0 and re.match(r"[\w.]", text[left - 1]):
            left -= 1
    while right < len(text) and re.match(r"\w", text[right]) and re.match(r"\w", text[right - 1]):
        right += 1
    return left, right


def _of_options(tree: ast.Module, prose: Lines) -> Iterator[Found[DraftCase]]:
    """One case for each choice of a `--backend` or `--mode` of the script's own."""
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
        ):
            continue
        flags = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        flag = next((one for one in flags if re.fullmatch(r"--(?:backend|compiler|mode|variant|case)", one)), None)
        choices = keyword(node, "choices")
        if flag is None or not isinstance(choices, (ast.List, ast.Tuple)):
            continue
        values = [one.value for one in choices.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        cases = [
            DraftCase(slug(value) and _named(value), (flag, value), is_control=_is_control(value, prose))
            for value in values
            if slug(value)
        ]
        if cases and not all(case.is_control for case in cases):
            ordered = [*(c for c in cases if c.is_control), *(c for c in cases if not c.is_control)]
            yield from (found(case, "case-option", f"a choice of {flag} of the script") for case in ordered)
            return


def _named(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", value).strip("-._")[:60] or "case"


def _is_control(value: str, prose: Lines) -> bool:
    for _, line in prose:
        if re.search(rf"\b{re.escape(value)}\b", line[:LONGEST_LINE]):
            is_good, is_bad = judged(line[:LONGEST_LINE])
            if is_bad and not is_good:
                return False
    return value.lower() in _CONTROLS


def _of_commands(commands: Sequence[tuple[int, tuple[str, ...], str]]) -> Iterator[Found[DraftCase]]:
    """One case for each command line; one whose comment says that it works is a control."""
    names: set[str] = set()
    cases: list[Found[DraftCase]] = []
    for number, words, comment in commands:
        name = slug("-".join(words)) or "repro"
        if name in names:
            continue
        names.add(name)
        works = says_it_works(comment)
        cases.append(
            found(DraftCase(name, words, is_control=works), "case-command", "a command line of the report", number)
        )
    if all(case.value.is_control for case in cases):
        cases = [found(DraftCase(c.value.name, c.value.args), c.rule, c.why, c.line) for c in cases]
    yield from sorted(cases, key=lambda case: not case.value.is_control)
