"""What is left of a spec when the parts that are wrong are taken out, so that the meaning of the rest is checked too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bisect_tool.spec.mistake import Location

_STANDS_IN: Mapping[str, Mapping[str, str]] = {"cases": {}, "failures": {"match": "x"}, "metrics": {"ratio": "2"}}


def without(content: Mapping[str, Any], wrong: Iterable[Location]) -> dict[str, Any]:
    """The content without what is at the locations `wrong`; stand-ins take the place of what a spec cannot do without.

    The entries of `cases`, `failures` and `metrics` keep their positions, so that a mistake that is found later has its
    true place.
    An empty location (neither script nor command, or both) leaves a script alone.
    """
    left = {
        key: list(value) if key in _STANDS_IN and isinstance(value, list) else value for key, value in content.items()
    }
    places = list(wrong)
    for at in places:
        match at:
            case ("cases" | "failures" | "metrics" as key, int() as number, *inner) if key in left:
                left[key][number] = _entry(key, left[key][number], number, inner[:1])
            case (first, *_):
                left.pop(str(first), None)
            case _:
                pass
    left.setdefault("name", "unnamed")
    if any(not at or at[0] in {"script", "command"} for at in places):
        left.pop("command", None)
        left["script"] = "unnamed"
    return left


def _entry(key: str, entry: object, number: int, wrong: list[str | int]) -> dict[str, Any]:
    kept = dict(entry) if isinstance(entry, Mapping) and wrong else {}
    for name in wrong:
        kept.pop(str(name), None)
    return {"name": f"unnamed-{number}", **_STANDS_IN[key], **kept}
