"""From an event as the service keeps it to the value that the views of a run take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from bisect_tool.reports import events


def read_event(kind: str, body: Mapping[str, Any]) -> events.Event | None:
    """The event; None for a kind that is only of the service, or that a newer server tells."""
    if kind not in kinds():
        return None
    try:
        found: events.Event = _adapter(kind).validate_python(dict(body))
    except ValidationError:
        return None
    return found


@cache
def kinds() -> dict[str, type[Any]]:
    """The classes of events by their names in snake case."""
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(events.Event)}


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(kinds()[kind])
