"""The lines that every form of traceback shares: the one with type and message, and those that connect two exceptions."""

from __future__ import annotations

import re

CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"
LINKS = {CAUSE: "cause", CONTEXT: "context"}

_LINE = re.compile(r"([^\W\d]\w*+(?:\.(?:\w++|<locals>))*+)(?:(:) ?(.*)|$)")
_SOURCE_LIKE = re.compile(r":\S")  # `a:b`, `std::bad_alloc`: no exception is printed without a space after its colon
_SURE = re.compile(r"(?:Error|Exception|Warning|Interrupt|Exit|Failed|Failure|Group|Unsupported|StopIteration)$")


def split_exception_line(line: str) -> tuple[str, str | None] | None:
    """(type, message) of a line like `torch.cuda.OutOfMemoryError: CUDA out of memory`, or None for any other line.

    The message is None where the line has no colon: the exception was raised without one.
    """
    found = _LINE.match(line)
    if found is None or _SOURCE_LIKE.match(line, found.end(1)):
        return None
    name = found[1].removeprefix("__main__.")
    return name, (found[3] if found[2] else None)


def is_surely_exception(name: str) -> bool:
    """Whether a type is called what exceptions are called; others (`queue.Empty`, `Stop`) need more evidence."""
    return _SURE.search(name) is not None


def can_be_exception(name: str) -> bool:
    """Whether a type may be an exception at all: lower-case names have a module before them (`zlib.error`)."""
    return "." in name or name.lstrip("_")[:1].isupper()
