"""What is known of single files of the index: remembered, else asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from bisect_tool.builds.nightly.memory import FileFacts, Memory
from bisect_tool.builds.nightly.site import Site, Unanswered

Answer = FileFacts | Unanswered
_TOLD = 64  # a line about the progress after so many answers


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a site. `clock` gives the time (UTC, aware); `tell` takes lines about the progress."""

    site: Site
    memory: Memory
    clock: Callable[[], datetime]
    tell: Callable[[str], None] = field(default=lambda _line: None, repr=False)

    def facts(self, addresses: Mapping[str, date], what: str = "files") -> dict[str, Answer]:
        """By address, what is known of the files of these nightlies; what is not remembered, or not freshly, is asked for.

        `what` they are is for the lines about the progress. Raises `IndexUnreachable` when too many are not answered,
        `CacheNotWritable`, `DiskFull`, `CacheBroken`.
        """
        now = self.clock()
        kept = self.memory.of(addresses)
        known: dict[str, Answer] = {
            address: kept[address].facts
            for address, day in addresses.items()
            if address in kept and kept[address].is_fresh(day, now)
        }
        rest = [address for address in addresses if address not in known]
        asked = self.site.ask(rest, lambda done: self._report(done, len(rest), what))
        self.memory.keep({address: facts for address, facts in asked.items() if isinstance(facts, FileFacts)}, now)
        return {**known, **asked}

    def _report(self, done: int, of: int, what: str) -> None:
        if done % _TOLD == 0:
            self.tell(f"looking for {what}: {done} of {of} asked for")
