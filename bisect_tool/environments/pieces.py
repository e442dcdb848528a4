"""Which bytes of a file are here, and which stream fetches which of the others. Pure bookkeeping, without locks."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field

PIECE = 8 << 20  # bytes that a stream takes at a time while there are several: the file grows from its beginning


@dataclass(slots=True)
class Claim:
    """What a stream is fetching: the next byte is `at`, the last one before `stop`; `stop` may come nearer meanwhile."""

    at: int
    stop: int

    @property
    def is_served(self) -> bool:
        """Whether all of it is here."""
        return self.at >= self.stop


@dataclass(slots=True)
class Pieces:
    """A file of `size` bytes. `here` are the stretches (start, stop) that are on disk: in order, without neighbours.

    Streams take `piece` bytes at a time while there are several.
    """

    size: int
    here: list[tuple[int, int]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    piece: int = PIECE

    @property
    def count(self) -> int:
        """How many bytes are here."""
        return sum(stop - start for start, stop in self.here)

    @property
    def is_complete(self) -> bool:
        """Whether every byte is here."""
        return self.count >= self.size

    def frontier(self, start: int) -> int:
        """The first byte from `start` on that is not here."""
        return next((stop for first, stop in self.here if first <= start < stop), start)

    def claim(self, *, alone: bool) -> Claim | None:
        """The first bytes that nobody fetches, all up to the next ones for a stream that is `alone`; None: all are taken."""
        taken = sorted([*self.here, *((one.at, one.stop) for one in self.claims)])
        start = 0
        for first, stop in taken:
            if first > start:
                return self._claimed(start, first, alone=alone)
            start = max(start, stop)
        return self._claimed(start, self.size, alone=alone) if start < self.size else None

    def _claimed(self, start: int, stop: int, *, alone: bool) -> Claim:
        if not alone:
            stop = min(stop, start + self.piece)
        claim = Claim(start, stop)
        self.claims.append(claim)
        return claim

    def share(self) -> None:
        """Leave something of long claims to a stream that is about to begin."""
        for claim in self.claims:
            claim.stop = min(claim.stop, claim.at + self.piece)

    def release(self, claim: Claim) -> None:
        """A stream is done with its claim, or gives it up."""
        self.claims = [one for one in self.claims if one is not claim]

    def arrived(self, claim: Claim, count: int) -> None:
        """So many bytes of a claim are on disk."""
        self.add(claim.at, claim.at + count)
        claim.at += count

    def add(self, start: int, stop: int) -> None:
        """These bytes are on disk; claims that reach into them end where they begin."""
        for claim in self.claims:
            if claim.at < start < claim.stop:
                claim.stop = start
        merged: list[tuple[int, int]] = []
        stretches = list(self.here)
        insort(stretches, (start, stop))
        for first, last in stretches:
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        self.here = merged
