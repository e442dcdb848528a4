"""Events on their way from the process that answers to the log of events: as lines of JSON, without those that say little."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bisect_tool.reports import events

END = "end"  # the last line of the process: `run`, `outcome` and `error`
TENTHS = 10  # of a download, each of which is worth an event

News = tuple[str, Mapping[str, Any]]


def kind_of(event: events.Event) -> str:
    """The name of the kind of an event: that of its class, in snake case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()


def line_of(kind: str, body: Mapping[str, Any]) -> str:
    """One piece of news as a line."""
    return json.dumps({"kind": kind, "body": body}) + "\n"


def event_line(event: events.Event) -> str:
    """An event as a line."""
    return line_of(kind_of(event), asdict(event))


def read_line(line: bytes | str) -> News:
    """The inverse of `line_of`."""
    values = json.loads(line)
    return str(values["kind"]), dict(values["body"])


@dataclass(slots=True)
class Thinner:
    """Lets a download be told of each time that another tenth is here."""

    _told: dict[tuple[str, str], int] = field(default_factory=dict)

    def thin(self, news: Iterable[News]) -> list[News]:
        """What is left of some news."""
        return [one for one in news if one[0] != "downloading" or self._is_worth(one[1])]

    def _is_worth(self, body: Mapping[str, Any]) -> bool:
        key = (str(body["build"]), str(body["name"]))
        tenth = int(body["done"]) * TENTHS // int(body["total"]) if body["total"] else 0
        is_news = self._told.get(key) != tenth
        self._told[key] = tenth
        return is_news
