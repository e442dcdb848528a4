"""A batch on several machines: which specs each one takes, the same on all of them without asking each other.

Nothing is listed for that: it follows from the specs alone. Specs over the same stream of builds in ranges that overlap share
installs, so they go to one shard. Only where that is more than the fair share of the work, such a group is cut, in the order of
the ranges: then neighbours stay together, and each part has builds of its own to look at.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from bisect_tool.builds import versions
from bisect_tool.errors import SettingError
from bisect_tool.runs.batch.finding import Member
from bisect_tool.spec.model import Spec

INDEX, COUNT = "JOB_COMPLETION_INDEX", "BISECT_SHARDS"
INSTALL, TRIAL = 90.0, 15.0  # seconds, as good a guess as any: only what they are to each other matters
VERIFY = 4  # trials that a change takes on top of the search
LENIENCE = 1.25  # times the fair share that a group may be before it is cut
USUAL_BUILDS = 64  # of a range whose length cannot be told from the spec
NEITHER = "neither"
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Number `number`, counted from 0, of `of`."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_shard(text: str | None, environ: Mapping[str, str]) -> Shard | None:
    """The shard that `--shard I/N` names, I counted from 0; None for all.

    Kubernetes' JOB_COMPLETION_INDEX is the I where only N is given, as `--shard N` or by BISECT_SHARDS.

    Raises `SettingError`.
    """
    source = "--shard" if text else COUNT
    text = text or environ.get(COUNT) or None
    if text is None:
        return None
    number, slash, of = text.strip().rpartition("/")
    if not slash:
        number, source = environ.get(INDEX, ""), f"{source} and {INDEX}"
    if not (re.fullmatch(r"\d{1,6}", number) and re.fullmatch(r"\d{1,6}", of)):
        missing = "" if slash or number else f"; {INDEX} is not set"
        raise SettingError(
            f"{text!r} names no shard{missing}",
            where=source,
            advice="write --shard I/N with I from 0 to N-1, such as 0/8",
        )
    if int(number) >= int(of):
        raise SettingError(
            f"there is no shard {number} of {of}",
            where=source,
            advice=f"shards count from 0: the last one is {int(of) - 1}/{of}",
        )
    return Shard(int(number), int(of))


def members_of(members: Sequence[Member], shard: Shard) -> list[Member]:
    """The members that this shard takes, in their order."""
    home = share_out(members, shard.of)
    return [member for member in members if home[member.name] == shard.number]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A spec: between which places of its stream it looks, the builds there, and what its trials cost, in seconds."""

    name: str
    low: float
    high: float
    builds: float
    trials: float


def share_out(members: Sequence[Member], of: int) -> dict[str, int]:
    """The shard of each member, by its name; it depends on the specs alone, not on their order."""
    streams: dict[str, list[Spec]] = defaultdict(list)
    names: dict[int, str] = {}
    for member in members:
        if member.read is not None:
            streams[_stream(member.read.spec)].append(member.read.spec)
            names[id(member.read.spec)] = member.name
    groups = [group for key in sorted(streams) for group in _overlapping(_pieces(streams[key], names))]
    fair = sum(map(_cost, groups)) / of
    parts = [part for group in groups for part in _cut(group, fair)]
    home: dict[str, int] = {}
    loads = [0.0] * of
    for part in sorted(parts, key=lambda one: (-_cost(one), one[0].name)):
        shard = loads.index(min(loads))
        loads[shard] += _cost(part)
        home |= {piece.name: shard for piece in part}
    invalid = sorted(member.name for member in members if member.read is None)
    return home | {name: number % of for number, name in enumerate(invalid)}


def _stream(spec: Spec) -> str:
    """Specs with the same have environments in common where their ranges meet."""
    parts = (spec.package, spec.channel, spec.variant, spec.device, spec.python, spec.base, spec.source)
    return repr((*parts, sorted(spec.requires), sorted(spec.hold), sorted(spec.as_is)))


def _pieces(specs: Sequence[Spec], names: Mapping[int, str]) -> list[_Piece]:
    places = {text: _place(text) for spec in specs for text in (spec.from_, spec.to) if text is not None}
    kinds = {place[0] for place in places.values()}
    is_comparable = len(kinds) <= 1 and NEITHER not in kinds
    made = []
    for spec in specs:
        low, high = -math.inf, math.inf
        if is_comparable:
            high = places[spec.to][1] if spec.to is not None else math.inf
            low = places[spec.from_][1] if spec.from_ is not None else high  # a walk back mostly ends soon
        builds = high - low + 1 if "date" in kinds and 0 <= high - low < math.inf else USUAL_BUILDS
        made.append(_Piece(names[id(spec)], low, high, builds, _trials(spec, builds)))
    return sorted(made, key=lambda piece: (piece.low, piece.high, piece.name))


def _trials(spec: Spec, builds: float) -> float:
    """Seconds that the trials of a spec take, about."""
    steps = 2 + math.log2(max(2.0, builds))
    samples = sum(2 * metric.trials.least for metric in spec.metrics)
    return TRIAL * (steps * len(spec.cases) * max(1, samples) + VERIFY * len(spec.tests))


def _place(text: str) -> tuple[str, float]:
    """A bound as a number of days or as one that orders versions, with the word for which of the two it is."""
    if found := _DATE.search(text):
        try:
            return "date", float(date(*map(int, found.groups())).toordinal())
        except ValueError:
            return NEITHER, 0.0
    version = versions.parsed(text)
    if version is None:
        return NEITHER, 0.0
    major, minor, micro = (*version.release, 0, 0)[:3]
    return "version", float((major * 1000 + minor) * 1000 + micro)


def _overlapping(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces, sorted by where they begin, in groups between which no range reaches."""
    group: list[_Piece] = []
    end = -math.inf
    for piece in pieces:
        if group and piece.low > end:
            yield group
            group = []
        group.append(piece)
        end = max(end, piece.high)
    if group:
        yield group


def _cost(group: Sequence[_Piece]) -> float:
    """Seconds: the builds that searches over one range look at are the same at first, then each goes its own way."""
    levels = range(2 + math.ceil(math.log2(max(2.0, *(piece.builds for piece in group), 2.0))))
    installs = sum(min(len(group), 1 << level) for level in levels)
    return INSTALL * installs + sum(piece.trials for piece in group)


def _cut(group: Sequence[_Piece], fair: float) -> Iterator[list[_Piece]]:
    """The group, in as many parts as fair shares are in it; each has about the same work."""
    count = 1 if _cost(group) <= fair * LENIENCE else min(len(group), math.ceil(_cost(group) / fair))
    whole, done = sum(piece.trials for piece in group), 0.0
    parts: list[list[_Piece]] = [[] for _ in range(count)]
    for piece in group:
        parts[min(count - 1, int(count * (done + piece.trials / 2) / whole))].append(piece)
        done += piece.trials
    yield from (part for part in parts if part)
