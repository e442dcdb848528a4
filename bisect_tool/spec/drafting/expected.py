"""What the failure looks like: its kind, and the words by which it is known again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bisect_tool.spec.drafting.report import LONGEST_LINE, heading_of, is_form, slug

_TYPE = r"(?:[A-Za-z_][\w.]{0,120}?)?(?:Error|Exception|Unsupported|Warning|Exceeded|OutOfResources|Interrupt|Failure)"
_RAISED = re.compile(rf"^(?P<types>(?:{_TYPE}:\s+)*{_TYPE}):\s+(?P<message>\S.*)$")
_BARE = re.compile(r"^(?P<types>[a-z_][\w.]*\.)?(?P<type>[A-Z]\w*(?:Error|Exception))\s*$")
_IN_TEXT = re.compile(
    rf"(?<![\w.])(?<!except )(?<!raise )(?<!catch )(?P<types>(?:{_TYPE}:\s+)*{_TYPE}):\s+(?P<message>[^\s].*)$"
)
_NAMED = re.compile(
    r"(?:\b(?:rais\w+|throw\w*|gets?|gives?|fails? with|(?:ends?|dies) with)\s+(?:an?\s+|the\s+)?|^(?:bug:?\s*)?)"
    r"(?P<type>[A-Z]\w*(?:Error|Exception))\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?<!\s)\s+(?:Set TORCH\w+|You can suppress|The above exception|While executing|from user code|Found from|target:|"
    r"If you are certain|Compile with `TORCH_USE|Please (?:file|report)).*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[a-z)'\"])\.(?:\s+[A-Z].*)?$")
_MARGIN = re.compile(r"^\s*(?:\[rank\d+\]:|[#|>*•-]|\d+\.)?\s*")
_QUOTED = re.compile(r"^(?:\w+(?: \w+)?:\s*)?`(?P<said>[^`]+)`\.?$")
_VOLATILE = re.compile(
    r"0x[0-9a-f]+|(?<![\w.])[-+]?\d[\d_]*(?:\.\d+)*(?:e[-+]?\d+)?(?!\w)|/(?:[\w.+-]+/)+[\w.+-]*|\b(?:buf|arg|"
    r"primals|tangents|s|u|op|tmp)_?\d+(?:_\d+)?\b|\b[0-9a-f]{12,}\b",
    re.IGNORECASE,
)
_FILLERS = re.compile(r"(?:(?<=[ ,])(?:because|there|is|are|was|were|the|an?|that|which|been|has|have)\b[ ,]*)+")
LONGEST_MATCH = 140
_SHORTEST = 12
_FEWEST_LETTERS = 4
_GAP = ".*"
_MOST_GAPS = (
    2  # that go back and try again; each one more multiplies the time of a text that does not match by its length
)

_WRONG = re.compile(
    r"\b(?:wrong|incorrect\w*|silent\w*|mismatch\w*|differ\w*|(?:in)?accura\w+|zeros?|all-zero|not (?:close|"
    r"equal|match\w*)|diverg\w+|"
    r"(?:other|different|diverging) (?:numbers?|values?|results?|outputs?|shapes?)|numerical\w*|inconsisten\w+|"
    r"always (?:0|none|empty|false|true)|unexpected (?:results?|outputs?|values?)|bogus|corrupt\w*|nan'?s?|precision)\b",
    re.IGNORECASE,
)
# Of these some tell of values that are wrong in themselves; the others may as well be those at which an exception is raised.
_WRONG_FOR_SURE = re.compile(
    r"\b(?:wrong|incorrect\w*|silent\w*|bogus|corrupt\w*|inaccura\w+|diverg\w+)\b", re.IGNORECASE
)
_KINDS = (
    (
        "crash",
        re.compile(
            r"\b(?:seg(?:mentation)?[ -]?fault\w*|sigsegv|sigabrt|core dump\w*|aborted|illegal instruction|"
            r"bus error|floating point exception)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "hang",
        re.compile(
            r"\b(?:hangs?|hung|hanging|deadlock\w*|stuck|never (?:returns|finishes|ends|terminates)|infinite loop|"
            r"freezes?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "memory",
        re.compile(
            r"\b(?:memory leak\w*|leaks? memory|leak(?:s|ed|ing)?|memory (?:usage|growth|consumption)|oom)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "slow",
        re.compile(
            r"\b(?:slow(?:er|downs?|ness|s|ed|ing)?|performance regression|perf regression|"
            r"(?:takes?|took) (?:\w+ ){0,2}longer|times longer|latency|throughput|speed (?:regression|difference|drop))\b",
            re.IGNORECASE,
        ),
    ),
)
_THROWS = re.compile(
    r"\b(?:crash\w*|rais\w+|throw\w*|exception|error\w*|fails? to (?:compile|lower|trace|export|import)|assert\w*)\b",
    re.IGNORECASE,
)
_WARNS = re.compile(r"\b\w*warning\w*\b", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"\b(?:versions?|environment|system info\w*)\b", re.IGNORECASE)
_SIGNALS = (
    (re.compile(r"\bseg(?:mentation)?[ -]?fault\w*|\bsigsegv\b", re.IGNORECASE), "segmentation-fault", "SIGSEGV"),
    (re.compile(r"\billegal instruction\b|\bsigill\b", re.IGNORECASE), "illegal-instruction", "SIGILL"),
    (re.compile(r"\bbus error\b|\bsigbus\b", re.IGNORECASE), "bus-error", "SIGBUS"),
    (re.compile(r"\bfloating point exception\b|\bsigfpe\b", re.IGNORECASE), "floating-point-exception", "SIGFPE"),
    (re.compile(r"\babort(?:ed)?\b|\bsigabrt\b", re.IGNORECASE), "abort", "SIGABRT"),
)
# What an exception says that is the failure of a report of another kind.
_IN_A_KIND = {
    "crash": re.compile(
        r"signal|segmentation|segfault|killed|abort|illegal|exited unexpectedly|core dump", re.IGNORECASE
    ),
    "hang": re.compile(r"time(?:d)?[ -]?out|deadlock|hang", re.IGNORECASE),
    "memory": re.compile(r"memory|alloc", re.IGNORECASE),
    "slow": re.compile(r"time(?:d)?[ -]?out|slow", re.IGNORECASE),
}


class Kind(StrEnum):
    """How a report says that it fails."""

    EXCEPTION = "exception"
    WRONG = "wrong result"
    CRASH = "crash"
    HANG = "hang"
    MEMORY = "memory"
    SLOW = "slow"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that the report quotes: its types from the wrapper to the cause, its message, where it stands."""

    types: tuple[str, ...]
    message: str
    line: int

    @property
    def cause(self) -> str:
        """The type that decides, without its module."""
        return self.types[-1].rsplit(".", 1)[-1]

    @property
    def shown(self) -> str:
        """As Python prints it, without wrappers."""
        return f"{self.cause}: {self.message}" if self.message else self.cause


def find_kind(title: str, prose: Sequence[tuple[int, str]], raised: Raised | None) -> tuple[Kind, str, int | None]:
    """(kind, the words that tell, line): the title decides, then the sentences, then whether there is a traceback."""
    beginning = [(number, line) for number, line in prose if line.strip()][:15]
    for number, text in [(0, title), *beginning]:
        kind = _kind_of(text[:LONGEST_LINE], raised)
        if kind:
            return kind[0], kind[1], number or None
    if raised:
        return Kind.EXCEPTION, raised.shown, raised.line
    return Kind.EXCEPTION, "", None


def _kind_of(text: str, raised: Raised | None) -> tuple[Kind, str] | None:
    for name, pattern in _KINDS:
        if match := pattern.search(text):
            return Kind(name), match[0]
    wrong, throws = _WRONG.search(text), _THROWS.search(text)
    if wrong and not _WRONG_FOR_SURE.search(text) and (throws or (raised and _ends_a_script(raised))):
        return Kind.EXCEPTION, throws[0] if throws else raised.shown if raised else ""
    if raised and raised.cause.endswith("Warning"):
        return Kind.WARNING, raised.cause
    if wrong and (not throws or not raised or re.search(r"silent", text, re.IGNORECASE)):
        return Kind.WRONG, wrong[0]
    if throws and (raised or not wrong):
        return Kind.EXCEPTION, throws[0]
    if match := _WARNS.search(text):
        return Kind.WARNING, match[0]
    return None


def _ends_a_script(raised: Raised) -> bool:
    """Whether it is an exception that says no more than that: neither a warning nor an assertion on values."""
    return not raised.cause.endswith("Warning") and raised.cause != "AssertionError"


def find_raised(
    lines: Sequence[tuple[int, str]], code: Sequence[tuple[int, str]], *, is_warning: bool = True
) -> Raised | None:
    """The exception that the report quotes: a line of its own first, then in a sentence, then in a comment of the code.

    `is_warning`: it may be a warning.
    """
    by_line = [one for number, line in lines if (one := _on_a_line(line, number))]
    errors = [one for one in by_line if not one.cause.endswith("Warning")]
    by_line = by_line if is_warning and (not errors or by_line == errors) else errors
    after = _after_tracebacks(lines, by_line)
    if by_line:
        return (after or by_line)[-1]
    in_text = [one for number, line in lines if (one := _in_a_sentence(line, number))]
    in_comment = list(_in_comments(code))
    found = (one for one in (*in_text, *in_comment) if is_warning or not one.cause.endswith("Warning"))
    return next(found, None) or _only_named(lines)


def _only_named(lines: Sequence[tuple[int, str]]) -> Raised | None:
    """An exception of which the text only says that it is raised ("raises `ValueError` when …")."""
    for number, line in lines:
        if match := _NAMED.search(line[:LONGEST_LINE].replace("`", "")):
            return Raised((match["type"],), "", number)
    return None


def speaks_of_warnings(title: str, lines: Sequence[tuple[int, str]]) -> bool:
    """Whether a warning may be what the report is about: one in the description of the environment is not."""
    if _WARNS.search(title):
        return True
    for _, line in lines:
        if _ENVIRONMENT.search(heading_of(line) or (line if is_form(line) else "")):
            return False
        if _WARNS.search(line[:LONGEST_LINE]):
            return True
    return False


def _after_tracebacks(lines: Sequence[tuple[int, str]], found: Sequence[Raised]) -> list[Raised]:
    """The last exception of the first traceback and those that hang on it: what comes much later is another attempt."""
    starts = [
        number
        for number, line in lines
        if "Traceback (most recent call last)" in line or re.match(r'\s*File ".*", line \d+', line)
    ]
    if not starts:
        return []
    last = starts[0]
    kept: list[Raised] = []
    for one in sorted(found, key=lambda each: each.line):
        near = max((start for start in starts if start <= one.line), default=None)
        if near is None:
            continue
        if kept and near - last > 200:
            break
        kept.append(one)
        last = one.line
    return kept


def _on_a_line(line: str, number: int) -> Raised | None:
    text = _MARGIN.sub("", line[:LONGEST_LINE]).strip()
    if quoted := _QUOTED.match(text):
        text = quoted["said"]
    if text.startswith(("raise ", "except ", "assert ", "with ", "class ")):
        return None
    match = _RAISED.match(text)
    if match:
        return _raised(match["types"], match["message"], number)
    bare = _BARE.match(text)
    return Raised((bare["type"],), "", number) if bare and line[:1].strip() else None


def _in_a_sentence(line: str, number: int) -> Raised | None:
    match = _IN_TEXT.search(line[:LONGEST_LINE].replace("`", ""))
    return _raised(match["types"], _SENTENCE.sub("", match["message"]).rstrip("."), number) if match else None


def _in_comments(code: Sequence[tuple[int, str]]) -> Iterator[Raised]:
    """Exceptions in comments, which may go on in the comment below."""
    for at, (number, line) in enumerate(code):
        comment = line.partition("#")[2].strip()
        one = _on_a_line(comment, number) if comment else None
        if one is None:
            continue
        below = code[at + 1][1].strip() if at + 1 < len(code) else ""
        more = below.lstrip("# ") if below.startswith("#") and line.strip().startswith("#") else ""
        goes_on = more and not _on_a_line(more, number) and not one.message.rstrip().endswith((".", "!", ")"))
        yield Raised(one.types, f"{one.message} {more}" if goes_on else one.message, number)


def _raised(types: str, message: str, line: int) -> Raised:
    names = [name.strip() for name in re.split(r":\s+", types) if name.strip()]
    while match := _RAISED.match(message):  # wrappers that quote: "LoweringException: RuntimeError: …"
        names += [name.strip() for name in re.split(r":\s+", match["types"])]
        message = match["message"]
    return Raised(tuple(names), _ADVICE.sub("", message).strip(), line)


def is_the_failure(raised: Raised, kind: Kind) -> bool:
    """Whether the exception that a report quotes is what it is about; a report of a hang also shows how it was stopped."""
    pattern = _IN_A_KIND.get(kind.value)
    return pattern is None or pattern.search(raised.shown) is not None


def signal_of(title: str, prose: Sequence[tuple[int, str]]) -> tuple[str, str, int] | None:
    """(name, signal, line) of the first signal that the report of a crash names; line 0 is the title."""
    for number, text in [(0, title), *prose]:
        for pattern, name, signal in _SIGNALS:
            if pattern.search(text[:LONGEST_LINE]):
                return name, signal, number
    return None


def match_of(raised: Raised) -> str:
    """A regular expression for the failure: its words; what differs from run to run, and little words, may be anything.

    With many gaps it takes the first place for each piece and never another (`(?>.*?piece)`, known to Python since 3.11). That
    finds the same, as all pieces have a fixed length, and a long list of numbers that is another costs no minutes.
    """
    first, *pieces = _open_pattern(raised).split(_GAP)
    if len(pieces) <= _MOST_GAPS:
        return _GAP.join([first, *pieces])
    return first + "".join(f"(?>{_GAP}?{piece})" for piece in pieces if piece)


def short_match_of(raised: Raised) -> str:
    """The beginning of `match_of`, up to its third gap: for any Python, and with no more to try than that."""
    return _GAP.join(_open_pattern(raised).split(_GAP)[: _MOST_GAPS + 1])


def _open_pattern(raised: Raised) -> str:
    """The pieces of the message that are always the same, escaped, and `.*` between them (nothing escaped contains that)."""
    words = raised.message if len(raised.message) >= _SHORTEST and not _is_pythons_own(raised) else raised.shown
    words = words[:LONGEST_MATCH].rstrip()
    if len(raised.shown) > LONGEST_MATCH and " " in words:
        words = words.rsplit(" ", 1)[0]
    pieces = [part for part in re.split(r"\x00+", _VOLATILE.sub("\x00", words)) if part.strip() or part == " "]
    pattern = _GAP.join(_escaped(piece) for piece in pieces)
    pattern = re.sub(r"(?:\.\*\s?){2,}", _GAP, pattern).strip()
    tells = len(re.findall(r"[^\W\d_]", pattern.removeprefix(raised.cause))) >= _FEWEST_LETTERS
    return pattern if tells else re.escape(raised.cause)


def _is_pythons_own(raised: Raised) -> bool:
    """Words that Python uses for any program: only with their type do they tell something."""
    return raised.cause in {
        "IndexError",
        "KeyError",
        "AttributeError",
        "TypeError",
        "ZeroDivisionError",
        "RecursionError",
    } and (len(raised.message) < 60)


def _escaped(piece: str) -> str:
    """Escaped for a regular expression as far as it must be; quotes may be of any kind."""
    parts = [
        re.sub(r"[`'\"‘’“”]", ".", re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", part)) for part in _FILLERS.split(piece)
    ]
    return _GAP.join(parts)


def name_of(raised: Raised) -> str:
    """What to call the failure: the first words of its message, else its type."""
    words = [word for word in re.findall(r"[A-Za-z][A-Za-z0-9]+", _VOLATILE.sub(" ", raised.message)) if len(word) > 2][
        :5
    ]
    return slug("-".join(words)) or slug(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", raised.cause)) or "failure"
