"""What the records of searches say of the builds that they had listed, and of where they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bisect_tool.service.build_lines import ListedBuild, Stretch, may_have_gaps
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import openings_of

UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError)  # what a record of another version raises


@dataclass(frozen=True, slots=True)
class Place:
    """Where verdicts hold: two of different places say nothing about each other."""

    package: str
    channel: str
    variant: str
    source: str
    device: str
    python: str


class Listings:
    """What searches of the same package had listed, whatever their repro; read when it is needed, and once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._read: dict[str, list[tuple[Place, Stretch]]] = {}

    def of(self, place: Place) -> list[Stretch]:
        """Newest first."""
        if place.package not in self._read:
            openings = openings_of(self._asker, {place.package}).get(place.package, [])
            self._read[place.package] = [found for started, line in openings for found in _listed(line, started)]
        return [stretch for other, stretch in self._read[place.package] if other == place]


def _listed(line: str, started: str) -> Iterator[tuple[Place, Stretch]]:
    """The listings of a record, each once."""
    seen: set[int] = set()
    try:
        opened = json.loads(line)
        for number, about in enumerate(opened["about"]):
            if about["listing"] is not None and about["listing"] not in seen:
                seen.add(about["listing"])
                yield place_of(about), stretch_of(opened, number, started)
    except UNREADABLE:
        return


def place_of(about: Mapping[str, Any]) -> Place:
    """The place that a record tells of. Raises `KeyError`."""
    return Place(**{name: str(about[name]) for name in Place.__slots__})


def about_of(opened: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Where the question at a place of a record was asked, from its first line. Raises `UNREADABLE`."""
    found: dict[str, Any] = opened["about"][place]
    return found


def stretch_of(opened: Mapping[str, Any], place: int, started: str) -> Stretch:
    """The builds that it had listed. Raises `UNREADABLE`."""
    about = opened["about"][place]
    listing, versions = opened["listings"][about["listing"]], opened["questions"][place]["builds"]
    builds = zip(versions, listing["dates"], listing["files"], strict=True)
    listed = tuple(ListedBuild(*one) for one in builds)
    from_, to, dated = about["from"], about["to"], about["dated"]
    has_gaps = about.get("has_gaps", may_have_gaps(from_, to, dated=dated))
    return Stretch(listed, dated, started, from_, to, has_gaps=has_gaps)
