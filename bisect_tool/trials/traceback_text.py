"""Reading Python tracebacks out of what a process printed.

The exception hook gives the same more exactly; this is for programs that it does not reach (pytest, a shell, another
interpreter) and for tracebacks inside messages. The text is read once, line by line, in blocks: a header, frames, the line
with type and message, further lines of the message. What decides about a line:

- a header begins a block. Inside a message it does so only when the message has not announced it: a line that ends in a
  colon, `Name=` (Inductor) or three quotes (multiprocessing) announces a traceback that belongs to the message;
- a connecting line ("The above exception was the direct cause …") hangs the next block on the one before it;
- a line that some other part of the process prints (`NOISE`) ends the message;
- among frames, a line at the margin that cannot be an exception comes from another thread and is passed over;
- a block without a line for its exception was cut off, and tells nothing.

Blocks that say whose they are (`STRANGERS`: another thread, a child process) count only when there is none of the main
thread; what Python ignored (`IGNORED`) never counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice, takewhile

from bisect_tool.trials.exception_line import LINKS, can_be_exception, is_surely_exception, split_exception_line
from bisect_tool.trials.observation import Raised
from bisect_tool.trials.pytest_text import parse_pytest
from bisect_tool.trials.volatile import without_escapes

LONGEST_MESSAGE = 64 * 1024
LONGEST_CHAIN = 20
MOST_FRAMES = 500
DEEPEST_GROUP = 10

_RECENT_LAST = "(most recent call last):"
_HEADER = "Traceback " + _RECENT_LAST
_GROUP_HEADER = "Exception Group " + _HEADER
_MARGIN = re.compile(r"^ *+[|+]")
_RANK = re.compile(r"^\[rank\d+\]:\s?")  # torch.distributed puts this before each line of an uncaught exception
_FRAME = re.compile(r'^  File "([^"]*)", line \d+(?:, in (.*))?$')
_REPEATED = re.compile(r"^  \[Previous line repeated (\d{1,6}) more times?\]$")
_LEFT_OUT = re.compile(r"^… \d+ bytes left out …$")  # the middle of a long output, see `bisect_tool.trials.capture`
_ANNOUNCES = re.compile(r'^Name=|(?::|""")$')
_FATAL = re.compile(r"^Fatal Python error: ", re.MULTILINE)
_FATAL_THREAD = re.compile(r"^Current thread .*\(most recent call first\):$")
_FATAL_FRAME = re.compile(r'^  File "([^"]*)", line (?:\d+|\?\?\?) in (.*)$')

IGNORED = re.compile(
    r"^(?:Exception ignored |Error in atexit\._run_exitfuncs:|--- Logging error ---|Error processing line \d)"
)
STRANGERS = re.compile(r"^(?:Exception in thread .*:|Exception in threading\.excepthook:|Process \S+:)$")
NOISE = re.compile(
    r"^(?:\S+:\d+: \w*Warning: "  # the warnings module
    r"|\[?[WEIF]\d{3,8} \d\d:\d\d:\d\d"  # the logs of torch, c10 and glog
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"  # logging in its usual form
    r"|terminate called |Fatal Python error: )"
)
_ELSEWHERE = re.compile("|".join(kind.pattern for kind in (NOISE, IGNORED, STRANGERS, _LEFT_OUT)))


class Origin(IntEnum):
    """Who printed a traceback; a higher one counts more."""

    IGNORED = 0
    STRANGER = 1
    MAIN = 2


@dataclass(frozen=True, slots=True)
class _Block:
    """One traceback: its exception, followed for a group by that of its first member; `link` is to the block before."""

    chain: tuple[Raised, ...]
    origin: Origin
    link: str | None


def parse(output: str) -> tuple[Raised, ...]:
    """The last uncaught exception in `output` as a chain, outermost first; empty when there is none.

    The shape is that of `bisect_tool.environments.exception_hook`, but for notes, which text cannot tell from the message.
    """
    text = without_escapes(output)
    if failed_test := parse_pytest(text):
        return failed_test
    blocks = _Reader([_RANK.sub("", line) for line in text.split("\n")]).read()
    last = max(range(len(blocks)), key=lambda at: (blocks[at].origin, at), default=None)
    if last is None or blocks[last].origin is Origin.IGNORED:
        return ()
    return _linked(blocks, last)


def parse_fatal(output: str) -> tuple[tuple[str, str], ...]:
    """The (file, function) pairs of the last stack that faulthandler printed, outermost first; empty without one."""
    text = without_escapes(output)
    starts = [found.end() for found in _FATAL.finditer(text)]
    lines = iter(text[starts[-1] :].split("\n") if starts else ())
    if not any(_FATAL_THREAD.match(line) for line in lines):
        return ()
    frames = list(takewhile(lambda found: found is not None, map(_FATAL_FRAME.match, lines)))
    return tuple((found[1], found[2]) for found in reversed(frames) if found)


def _linked(blocks: list[_Block], last: int) -> tuple[Raised, ...]:
    """The chain from block `last` back through the text, until a block that hangs on none, or a group."""
    chain, at = list(blocks[last].chain), last
    while (link := blocks[at].link) and at > 0 and len(blocks[at].chain) == 1 and len(chain) < LONGEST_CHAIN:
        at -= 1
        chain += [replace(blocks[at].chain[0], relation=link), *blocks[at].chain[1:]]
    return tuple(chain[:LONGEST_CHAIN])


def _group_chain(lines: list[str], column: int, depth: int = 0) -> tuple[Raised, ...]:
    """The chain of a group, or of a member of one, whose margin (`|`) stands in `column`."""
    split = next((at for at, line in enumerate(lines) if line[column : column + 3] == "+-+"), len(lines))
    own = [line[column + 2 :].replace(_GROUP_HEADER, _HEADER) for line in lines[:split]]
    if _HEADER not in own:  # a member that was never raised
        own.insert(0, _HEADER)
    blocks = _Reader(own).read()
    chain = _linked(blocks, len(blocks) - 1) if blocks else ()
    inner = column + 2
    first = list(takewhile(lambda line: line[inner : inner + 2] != "+-" or line[inner + 2] == "+", lines[split + 1 :]))
    if not chain or not first or depth >= DEEPEST_GROUP:
        return chain
    member = _group_chain(first, inner, depth + 1)
    return (chain[0], *(replace(one, relation="member") for one in member[:1]), *member[1:])


class _Reader:
    """Goes over the lines once; `at` is the next one, `said` the last one that was not blank."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.said = ""
        self.found: list[_Block] = []
        self.is_whole = False  # the last block was complete, so that another can hang on it
        self.is_cut = False  # the beginning of a traceback may have been left out
        self.link: str | None = None

    def read(self) -> list[_Block]:
        """All complete blocks, in the order of the text."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if self._is_header(self.at) or self._is_headless(line):
                self._take_block()
            elif line.endswith("+ " + _GROUP_HEADER):
                self._take_group(line.index("+"))
            else:
                self._pass_over(line)
        return self.found

    def _pass_over(self, line: str) -> None:
        self.at += 1
        self.is_cut = self.is_cut or _LEFT_OUT.match(line) is not None
        if not line.strip():
            return
        if line in LINKS and not self.is_whole:
            self._add_unraised()
        self.said = line
        self.link = LINKS.get(line) if self.is_whole else None

    def _next(self) -> str:
        return self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""

    def _is_header(self, at: int) -> bool:
        """A header stands at the margin, or behind a progress bar that did not end its line."""
        line = self.lines[at].rstrip()
        if not line.endswith(_HEADER):
            return False
        before = line.removesuffix(_HEADER)
        if before.endswith(("Original ", "Exception Group ")):
            return False
        return not before or (bool(before.strip(" |")) and _FRAME.match(self._next()) is not None)

    def _is_headless(self, line: str) -> bool:
        """A frame without a header: its traceback was cut, or it is the place of a syntax error in the script itself."""
        found = _FRAME.match(line)
        return found is not None and (self.is_cut or found[2] is None)

    def _take_block(self) -> None:
        """Read one traceback, from its header or first frame to the end of its message."""
        origin = Origin.MAIN
        if IGNORED.match(self.said) or STRANGERS.match(self.said):
            origin = Origin.IGNORED if IGNORED.match(self.said) else Origin.STRANGER
        link, headed = self.link, self._is_header(self.at)
        self.at += headed
        frames = self._take_frames(headed=headed)
        raised = self._take_exception(frames)
        self._add((raised,) if raised else (), origin, link)

    def _take_group(self, column: int) -> None:
        region = list(takewhile(_MARGIN.match, islice(self.lines, self.at, None)))
        self.at += len(region)
        self._add(_group_chain(region, column), Origin.MAIN, self.link)

    def _add(self, chain: tuple[Raised, ...], origin: Origin, link: str | None) -> None:
        self.said, self.link, self.is_whole, self.is_cut = "", None, bool(chain), False
        if chain:
            if link:  # what hangs on the exception of a thread is that thread's
                origin = min(origin, self.found[-1].origin)
            self.found.append(_Block(chain, origin, link))

    def _add_unraised(self) -> None:
        """A cause that was made but never raised has no traceback, only its line."""
        found = split_exception_line(self.said)
        if found and is_surely_exception(found[0]):
            self._add((Raised(found[0], found[1] or ""),), Origin.MAIN, None)

    def _take_frames(self, *, headed: bool) -> list[tuple[str, str]]:
        frames: list[tuple[str, str]] = []
        while self.at < len(self.lines) and not self._ends_frames(self.lines[self.at], headed=headed):
            line = self.lines[self.at]
            if found := _FRAME.match(line):
                frames += [(found[1], found[2])] if found[2] else []
            elif (repeated := _REPEATED.match(line)) and len(frames) < 2 * MOST_FRAMES:
                frames += frames[-1:] * min(int(repeated[1]), MOST_FRAMES)
            self.at += 1
        if len(frames) > MOST_FRAMES:  # both ends tell more than the middle
            frames[MOST_FRAMES // 2 : -MOST_FRAMES // 2] = []
        return frames

    def _ends_frames(self, line: str, *, headed: bool) -> bool:
        if line[:1] in {" ", ""} and not line.endswith(_HEADER):
            return False
        if self._is_header(self.at) or line in LINKS or _FATAL.match(line) is not None:
            return True
        found = split_exception_line(line)
        if found is None or NOISE.match(line):
            return False
        if is_surely_exception(found[0]):
            return True
        return headed and can_be_exception(found[0]) and _FRAME.match(self._next()) is None

    def _take_exception(self, frames: list[tuple[str, str]]) -> Raised | None:
        if self.at >= len(self.lines) or self._is_header(self.at) or self.lines[self.at] in LINKS:
            return None
        found = split_exception_line(self.lines[self.at])
        if found is None:
            return None
        self.at += 1
        more = self._take_message(found[1] or "")
        # Without a colon the message is empty: what follows is a note, or comes from elsewhere.
        message = "" if found[1] is None else "\n".join([found[1], *more])
        return Raised(found[0], message.rstrip()[:LONGEST_MESSAGE], "raised", tuple(frames))

    def _take_message(self, first: str) -> list[str]:
        more: list[str] = []
        said, is_inside = first.rstrip(), False
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if self._is_header(self.at):
                if not _ANNOUNCES.search(said):
                    break
            elif self._ends_message(line, is_inside=is_inside):
                break
            more.append(line)
            said = line.rstrip() or said
            is_inside = (is_inside or said.endswith(_RECENT_LAST)) and said != '"""'
            self.at += 1
        return more

    def _ends_message(self, line: str, *, is_inside: bool) -> bool:
        """Connecting lines and groups inside a traceback that the message quotes belong to the message."""
        if not is_inside and (line in LINKS or line.endswith("+ " + _GROUP_HEADER)):
            return True
        return not line.startswith(" ") and _ELSEWHERE.match(line) is not None
