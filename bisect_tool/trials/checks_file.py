"""The checks file: results that a repro reports, one JSON object a line."""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any

from bisect_tool.trials.left_files import read_left
from bisect_tool.trials.observation import Check
from bisect_tool.trials.visible import visible

MOST_BYTES = 8 * 1024 * 1024
MOST_LINES = 10_000


def read_checks(path: Path) -> tuple[tuple[Check, ...], str | None]:
    """The checks in the order of their lines, and what is wrong with the first line that is no check (None: nothing).

    A check that is reported more than once counts as failed when any of its lines says so. What is no file of the trial's own,
    such as a link, is no checks file.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return (), None
    except FileNotFoundError:
        return (), None
    content = read_left(path.parent, path.name, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        return (), f"it is longer than {MOST_BYTES // 1024**2} MB"
    lines = content.splitlines()
    if len(lines) > MOST_LINES:
        return (), f"it has more than {MOST_LINES} lines"
    checks: list[Check] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        check = _read_line(line)
        if isinstance(check, str):
            return tuple(checks), f"line {number} {check}: {visible(line[:120].decode('utf-8', 'backslashreplace'))}"
        checks.append(check)
    return tuple(checks), None


def _read_line(line: bytes) -> Check | str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(found, dict):
        return "is not an object"
    return _checked(found)


def _checked(found: dict[str, Any]) -> Check | str:
    name, verdict, value = found.get("check"), found.get("ok"), found.get("value")
    if not isinstance(name, str) or not name:
        return 'has no "check" with a name'
    if verdict is not None and not isinstance(verdict, bool):
        return '"ok" is neither true nor false'
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        return '"value" is not a number'
    if verdict is None and value is None:
        return 'has neither "ok" nor "value"'
    try:
        number = None if value is None else float(value)
    except OverflowError:
        number = math.inf
    if number is not None and not math.isfinite(number):
        return '"value" is not a finite number'
    return Check(_printable(name)[:200], verdict, _printable(str(found.get("message", "")))[:4000], number)


def _printable(text: str) -> str:
    """JSON can spell halves of characters, which no file and no terminal takes."""
    return text.encode("utf-8", "backslashreplace").decode()
