"""How many bytes a run may fetch: `--max-downloads`."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.errors import DownloadsUsedUp
from bisect_tool.quantities import format_size
from bisect_tool.runs.session import Session


@dataclass(slots=True)
class Allowance:
    """At most `limit` bytes, None without a bound; `spent` were announced so far, and `arrived` are here."""

    limit: int | None = None
    spent: int = 0
    arrived: int = 0

    def check(self, session: Session, number: int) -> None:
        """Before the environment of a build is opened. Raises `DownloadsUsedUp` when its wheel alone is too much."""
        size = wheel_to_fetch(session, number)
        if self.limit is not None and size and self.spent + size > self.limit:
            raise self._used_up(f"{session.asked.builds[number].version} needs {format_size(size)} more")

    def announced(self, size: int | None) -> None:
        """A download begins. Raises `DownloadsUsedUp` when it is one too much."""
        self.spent += size or 0
        if self.limit is not None and self.spent > self.limit:
            raise self._used_up(f"what is being fetched comes to {format_size(self.spent)}")

    def fetched(self, session: Session, number: int, told: int) -> None:
        """An environment was made, for which so many bytes were `told` to have arrived; of small files that is not told."""
        size = max(told, wheel_to_fetch(session, number, made=True))
        self.arrived += size
        self.spent += size - told

    def came_to_nothing(self, told: int) -> None:
        """An environment was not made, for which so many bytes have arrived all the same."""
        self.arrived += told

    def has_room_ahead(self, size: int | None, steps_left: int) -> bool:
        """Whether a wheel of `size` may be fetched in vain: only where all that is needed fits beside it."""
        return self.limit is None or self.spent + (size or 0) * (steps_left + 1) <= self.limit

    def _used_up(self, what: str) -> DownloadsUsedUp:
        assert self.limit is not None
        return DownloadsUsedUp(
            f"the run may fetch {format_size(self.limit)}: {what}",
            advice="the report says what is known so far; run the same command again with a larger --max-downloads, and it "
            "goes on from where it stopped",
        )


def wheel_to_fetch(session: Session, number: int, *, made: bool = False) -> int:
    """Bytes of the wheel of a build that is not here; `made`: its environment was made a moment ago."""
    asked, build = session.asked, session.asked.builds[number]
    is_here = build.identity in session.healths or "://" not in build.location
    if is_here or (not made and session.environments.is_ready(asked.environment_key(number))):
        return 0
    return build.size or 0
