"""What the records of searches say of the builds that they had listed, and of where they were made."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bisect_tool.service.build_lines import ListedBuild, Stretch, may_have_gaps
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import openings_of

MOST_LISTINGS = 12  # of one place, the newest
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
        self._left: dict[str, Iterator[tuple[str, str]]] = {}
        self._read: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._found: dict[Place, list[Stretch]] = {}

    def of(self, place: Place) -> list[Stretch]:
        """The newest `MOST_LISTINGS`, newest first."""
        if place not in self._found:
            told = (
                found
                for started, line in self._openings(place.package)
                if _may_be_of(place, line)
                for found in _listed(line, started)
            )
            self._found[place] = list(islice((stretch for other, stretch in told if other == place), MOST_LISTINGS))
        return self._found[place]

    def _openings(self, package: str) -> Iterator[tuple[str, str]]:
        """Those that another place has read already, then those that are left."""
        left, read = self._left.setdefault(package, openings_of(self._asker, package)), self._read[package]
        number = 0
        while True:
            if number == len(read):
                following = next(left, None)
                if following is None:
                    return
                read.append(following)
            yield read[number]
            number += 1


def _may_be_of(place: Place, line: str) -> bool:
    """Whether the line has all words of the place: to read all of it takes a hundred times as long."""
    return all(json.dumps(getattr(place, name)) in line for name in Place.__slots__)


def _listed(line: str, started: str) -> Iterator[tuple[Place, Stretch]]:
    """The listings of a record, each once for a place."""
    seen: set[tuple[Place, int, str | None, str | None]] = set()
    try:
        opened = json.loads(line)
        for number, about in enumerate(opened["about"]):
            if about["listing"] is None:
                continue
            place = place_of(about)
            which = place, about["listing"], about["from"], about["to"]
            if which not in seen:
                seen.add(which)
                yield place, stretch_of(opened, number, started)
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
