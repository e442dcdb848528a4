"""Sizes and durations, from and for people."""

from __future__ import annotations

import re
from decimal import Decimal

_SIZE = re.compile(r"^\s*(?P<number>[0-9]{1,20}(\.[0-9]+)?)\s*(?P<unit>[kmgt]i?b?|b)?\s*$", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """Bytes: `40GB` is decimal, `40GiB` binary, a plain number counts bytes.

    Raises `ValueError`.
    """
    found = _SIZE.match(text)
    if found is None:
        raise ValueError(f"not a size: {text!r}; write it like 40GB, 512MiB or 1000000")
    unit = (found["unit"] or "b").lower()
    base = 1024 if "i" in unit else 1000
    return int(Decimal(found["number"]) * base ** _POWERS.get(unit[0], 0))


def format_size(size: int) -> str:
    """`528 MB`, `2.3 GB`: decimal, two or three digits."""
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:.0f} {unit}"


def format_duration(seconds: float) -> str:
    """`4.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
