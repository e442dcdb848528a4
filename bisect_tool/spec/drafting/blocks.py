"""Where code stands in a report: between fences, after prompts, indented, or bare among the sentences.

Bare code is found by reading on from a line that can only be Python (`import`, `def`, `@`, an assignment of a call) as long
as the lines can go on with it: open brackets and strings, indented lines, statements. Whether it is Python is then decided by
Python's parser; from the end, lines that it does not take are given back to the text.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bisect_tool.spec.drafting.report import LONGEST_LINE, Report
from bisect_tool.spec.drafting.sessions import given_code, is_of_a_shell, shown_files

LONGEST_CODE = 2_000  # lines
_MOST_CUTS = 12  # ends that are tried for one piece of bare code
_MOST_FAILED = 100  # lines that look like a beginning and are none: the rest of the text is prose then
_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<marks>`{3,}|~{3,})\s*(?P<language>[\w+.-]*)")
_ON_FENCE = re.compile(
    r"^(?:from [\w.]+ import |import [\w.]+(?: as \w+)?\s*(?:$|[,;#]))"
)  # code in the line of the fence
_NUMBERED = re.compile(r"^\s*(?P<number>\d{1,4})(?:[:.|]?[ \t](?P<code>.*))?$")
_SHELLS = {
    "bash",
    "sh",
    "shell",
    "zsh",
    "console",
    "shell-session",
    "shellsession",
    "bash-session",
    "terminal",
    "powershell",
    "",
}
_PROMPT = re.compile(r"^\s*(?:>>> ?|In ?\[\d*\]: ?)(?P<code>.*)$")
_MORE = re.compile(r"^\s*\.{3,}:? ?(?P<code>.*)$")
_START = re.compile(
    r"import \w[\w.]*(?: as \w+)?(?:, ?\w[\w. ]*)*;?(?:\s*#.*|\s*;.*)?$|from [\w.]+ import [\w*(,.]|def \w+ ?\(|"
    r"async def \w+ ?\(|class \w+.{0,200}:|@\w[\w.]*"
    r"|[A-Za-z_][\w.\[\], ]{0,80}? ?= ?[\w.]{1,80}[(\[].{0,400}|with \w.{0,200}:|for \w+ in .{0,200}:"
)
_STATEMENT = re.compile(
    r"#|@|import |from \S+ import |(?:async )?(?:def|class|for|while|if|elif|else|try|except|finally|with|"
    r"match)\b.{0,1000}:\s*(?:#.*)?$"
    r"|(?:if|for|while|with|try|else|except|finally)\b.{0,400}:\s*\S"
    r"|return\b|raise\b|assert\b|del\b|pass\b|break\b|continue\b|global\b|nonlocal\b|yield\b|await\b"
    r"|[\w.\[\]\"'(), *]{1,200}?(?:(?<!\s)\s*:\s*[\w.\[\],|][\w.\[\], |]{0,79})?(?<!\s)\s*(?:[-+*/@&|^%]|//|\*\*|<<|>>)?=(?!=)"
    r"|[\w.]{1,100}(?:\[.{0,200}\])?\s*\(|[)\]}]|\"\"\"|'''|\(|\[|\{|f?\"|f?'"
)
_DIFF = re.compile(r"^(?:\+(?!\+\+)|-(?!--)| |@@|diff |index |\+\+\+|---|$)")
_SMART = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "‘": "'",
        "’": "'",
        "–": "-",
        "−": "-",
        "…": "...",
        "（": "(",
        "）": ")",
        "，": ",",
        "：": ":",
    }
)
_CODE_WORDS = {
    "",
    "python",
    "py",
    "python3",
    "py3",
    "pycon",
    "ipython",
    "ipython3",
    "jupyter",
    "diff",
    "text",
    "code",
    "txt",
    "plaintext",
    "console",
}


class Origin(StrEnum):
    """How code stands in a report."""

    FENCED = "between fences"
    PROMPT = "after prompts"
    INDENTED = "indented"
    BARE = "among the sentences"
    SHELL = "in a command line"
    SCRIPT = "the whole file"


@dataclass(frozen=True, slots=True)
class Block:
    """Code that Python's parser takes: lines `first` to `last` of the report (from 1), without prompts and indentation.

    `mended` says what had to be changed for that, empty when nothing was. `fence` is the line where its fence opens, 0: none.
    """

    first: int
    last: int
    code: str
    origin: Origin
    mended: str = ""
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """What looks like code and does not parse: its line, why, and the line where its fence opens (0: none)."""

    line: int
    why: str
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Divided:
    """A report divided: its code, what stands between fences but is no Python (output), and why code was refused."""

    blocks: tuple[Block, ...]
    covered: frozenset[int]  # the lines (from 1) that are code
    refused: tuple[Refused, ...]


def parsed(code: str) -> ast.Module | None:
    """The syntax tree; None for what is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def divide(report: Report) -> Divided:
    """All code of a report, in its order."""
    if report.is_script:
        return _whole(report)
    blocks: list[Block] = []
    refused: list[Refused] = []
    free = [True] * len(report.lines)
    for start, end, at, language, lines in _fences(report.lines):
        free[start : end + 1] = [False] * (end + 1 - start)
        found = _of_fence(lines, at, language.lower())
        blocks += [replace(one, fence=start + 1) for one in found]
        if language.lower() in _CODE_WORDS and (reason := _not_taken(lines, at, language.lower(), found)):
            refused.append(Refused(*reason, fence=start + 1))
    blocks += _prompts(report.lines, free)
    blocks += _given(report.lines)
    blocks += _bare(report.lines, free)
    blocks.sort(key=lambda block: block.first)
    covered = frozenset(number for block in blocks for number in range(block.first, block.last + 1))
    return Divided(tuple(blocks), covered, tuple(refused))


def _whole(report: Report) -> Divided:
    last = len(report.lines)
    every = frozenset(range(1, last + 1))
    plain = f"{report.text.rstrip(chr(10))}\n"
    for code, mended in ((report.code or plain, ""), (plain, "characters that do not print taken out")):
        if parsed(code) is not None:
            whole = code if code.endswith("\n") else code + "\n"
            return Divided((Block(1, last, whole, Origin.SCRIPT, mended),), every, ())
    return Divided((), frozenset(), (Refused(*_syntax_of(plain, 0)),))


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int, int, str, list[str]]]:
    """(line of the opening fence, of the closing one, of the first one in between, language, the lines); all from 0."""
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at][:LONGEST_LINE])
        if opened is None or "`" in lines[at][opened.end() :]:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if _closes(lines[n], opened["marks"])), len(lines))
        quoted = ">" in opened["indent"]
        inner = [re.sub(r"^[ \t]*> ?", "", line) if quoted else line for line in lines[at + 1 : end]]
        behind = lines[at][opened.end("marks") :].strip()
        if _ON_FENCE.match(behind):
            yield at, min(end, len(lines) - 1), at, "", [behind, *inner]
        else:
            yield at, min(end, len(lines) - 1), at + 1, opened["language"], inner
        at = end + 1


def _closes(line: str, marks: str) -> bool:
    bare = line.strip(" \t>")
    return len(bare) >= len(marks) and set(bare) == {marks[0]}


def _of_fence(lines: list[str], first: int, language: str) -> list[Block]:
    """The code between two fences; `first` is the line (from 0) of `lines[0]`."""
    if language in _SHELLS:
        shown = [_block(code, first + at, Origin.FENCED) for at, _, code in shown_files(lines)]
        if taken := [block for block in shown if block is not None and _is_code(block.code)]:
            return taken
    return _inside(lines, first, language) if language in _CODE_WORDS else []


def _not_taken(lines: list[str], first: int, language: str, found: Sequence[Block]) -> tuple[int, str] | None:
    """What between two fences is said to be Python and was not taken; for code after prompts the rest is output."""
    if any(block.origin is Origin.PROMPT for block in found):
        return None
    whole = len(found) == 1 and found[0].last - found[0].first + 1 == len(lines)
    return None if whole else _refusal(lines, first, language)


def _inside(lines: list[str], first: int, language: str) -> list[Block]:
    """The Python between two fences."""
    prompted = _prompts(lines, [True] * len(lines), first)
    if prompted:
        before = _fenced(lines[: prompted[0].first - first - 1], first)
        lead = "".join(f"{block.code}\n" for block in before)
        start = before[0].first if before else prompted[0].first
        return [replace(prompted[0], first=start, code=lead + prompted[0].code), *prompted[1:]]
    plain = _patched(lines) if language == "diff" or _is_diff(lines) else _without_numbers(lines)
    whole = _block(plain, first, Origin.FENCED)
    if whole is not None:
        return [whole] if _is_code(whole.code) else []
    return _fenced(plain, first)


def _fenced(lines: Sequence[str], first: int) -> list[Block]:
    return [replace(block, origin=Origin.FENCED) for block in _bare(lines, [True] * len(lines), first)]


def _without_numbers(lines: list[str]) -> list[str]:
    """A listing without the numbers of its lines, when every line has one and they go up by one."""
    said = [(at, match) for at, line in enumerate(lines) if line.strip() for match in [_NUMBERED.match(line)]]
    numbers = [int(match["number"]) if match else -1 for _, match in said]
    if len(numbers) < 3 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return lines
    return [match["code"] or "" if line.strip() and (match := _NUMBERED.match(line)) else "" for line in lines]


def _given(lines: Sequence[str]) -> list[Block]:
    """The programs of `python -c`, each in its line."""
    found = ((number, given_code(line)) for number, line in enumerate(lines))
    blocks = [_block(code.split("\n"), number, Origin.SHELL) for number, code in found if code]
    return [replace(block, last=block.first) for block in blocks if block is not None]


def _block(lines: Sequence[str], first: int, origin: Origin) -> Block | None:
    """The lines as one block if Python takes them, as they are or with quotes that a word processor has changed put right."""
    if not any(line.strip() for line in lines) or len(lines) > LONGEST_CODE:
        return None
    code = textwrap.dedent("\n".join(lines)).strip("\n") + "\n"
    if parsed(code) is not None:
        return Block(first + 1, first + len(lines), code, origin)
    mended = code.translate(_SMART)
    if mended != code and parsed(mended) is not None:
        return Block(first + 1, first + len(lines), mended, origin, "typographic quotes and dashes made plain")
    return None


def _is_code(code: str) -> bool:
    """Whether it does something: output and names alone may parse as well."""
    tree = parsed(code)
    acts = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.Call, ast.With, ast.For)
    return tree is not None and any(isinstance(node, acts) for node in ast.walk(tree))


def _is_diff(lines: Sequence[str]) -> bool:
    marked = [line for line in lines if line.strip()]
    plus = sum(line.startswith("+") for line in marked)
    return len(marked) > 2 and plus * 2 > len(marked) and all(_DIFF.match(line) for line in marked)


def _patched(lines: Sequence[str]) -> list[str]:
    """What a patch leaves: its added and unchanged lines. Lines keep their numbers."""
    patched = []
    for line in lines:
        is_head = re.match(r"(?:\+\+\+|---|@@|diff |index )", line) is not None
        patched.append("" if is_head or line.startswith("-") else line[1:] if line.startswith(("+", " ")) else line)
    return patched


def _prompts(lines: Sequence[str], free: list[bool], first: int = 0) -> list[Block]:
    """A session of an interactive interpreter as one block; what it printed is left out."""
    typed: list[str] = []
    start = end = -1
    was_typed = False
    for number, line in enumerate(lines):
        if not free[number]:
            continue
        asked = _PROMPT.match(line[:LONGEST_LINE])
        more = _MORE.match(line[:LONGEST_LINE]) if was_typed and not asked else None
        match = asked or more
        was_typed = match is not None
        if match:
            typed.append("" if match["code"].lstrip().startswith(("%", "!")) else match["code"])
            start, end = (number if start < 0 else start), number
    code = "\n".join(typed) + "\n"
    if not typed or parsed(code) is None or not _is_code(code):
        return []
    free[start : end + 1] = [False] * (end + 1 - start)
    return [Block(first + start + 1, first + end + 1, code, Origin.PROMPT)]


def _bare(lines: Sequence[str], free: list[bool], first: int = 0) -> list[Block]:
    """Code that nothing sets apart."""
    blocks: list[Block] = []
    at = failed = 0
    while at < len(lines) and failed < _MOST_FAILED:
        if not free[at] or not _START.match(lines[at].strip()[:LONGEST_LINE]):
            at += 1
            continue
        end = _end_of_code(lines, free, at)
        found = _longest(lines[at:end], first + at) if end > at else None
        if found is None:
            at, failed = at + 1, failed + 1
            continue
        blocks.append(found)
        at = found.last - first
    return blocks


def _end_of_code(lines: Sequence[str], free: list[bool], start: int) -> int:
    """The line after the last one that can go on with the code that begins at `start` and leaves nothing open."""
    margin = _indent(lines[start])
    depth, quote = 0, ""
    end = start
    for number in range(start, min(len(lines), start + LONGEST_CODE)):
        line = lines[number][:LONGEST_LINE]
        if not free[number]:
            break
        inside = depth > 0 or bool(quote)
        if line.strip() and not inside and not _goes_on(line, margin):
            break
        depth, quote = _opened(line, depth, quote)
        if line.strip() and not depth and not quote:
            end = number + 1
    return end


def _goes_on(line: str, margin: int) -> bool:
    return _indent(line) > margin or (_indent(line) == margin and _STATEMENT.match(line.strip()) is not None)


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _opened(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Brackets and long strings that are open after `line`, as far as a simple look can tell."""
    at = 0
    while at < len(line):
        if quote:
            close = line.find(quote, at)
            if close < 0:
                return depth, quote if len(quote) == 3 else ""
            at, quote = close + len(quote), ""
            continue
        char = line[at]
        if char == "#":
            break
        if char in "\"'":
            quote = char * 3 if line.startswith(char * 3, at) else char
            at += len(quote)
            continue
        depth += (char in "([{") - (char in ")]}")
        at += 1
    return max(depth, 0), quote if len(quote) == 3 else ""


def _longest(lines: Sequence[str], first: int) -> Block | None:
    """The longest beginning of `lines` that Python takes and that does something."""
    origin = Origin.INDENTED if _indent(lines[0]) >= 4 else Origin.BARE
    end = len(lines)
    for _ in range(_MOST_CUTS):
        if end < 1:
            return None
        found = _block(lines[:end], first, origin) if lines[end - 1].strip() else None
        if found is not None:
            return found if _is_code(found.code) else None
        wrong = _syntax_of(textwrap.dedent("\n".join(lines[:end])), 0)[0] if lines[end - 1].strip() else end
        end = min(end - 1, max(wrong - 1, 0))
    return None


def _refusal(lines: list[str], first: int, language: str) -> tuple[int, str] | None:
    """Why lines that are said to be Python, or import something, are none."""
    code = textwrap.dedent("\n".join(lines))
    if is_of_a_shell(lines):
        return (first + 1, "commands of a shell, not Python") if language in {"python", "py", "python3"} else None
    if language in {"python", "py", "python3"} or re.search(r"^(?:import|from) \w", code, re.MULTILINE):
        return _syntax_of(code, first)
    return None


def _syntax_of(code: str, first: int) -> tuple[int, str]:
    try:
        compile(code, "report", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return first + (error.lineno or 1), str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return first + 1, str(error)
    return first + 1, "no statement that does anything"
