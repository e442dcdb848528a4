"""How often somebody may ask: counted for each token, for anybody without one by the address of the client."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import ceil

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from bisect_tool.errors import SettingError
from bisect_tool.service.problems import Refused

REQUESTS = "1200/minute"
SUBMISSIONS = "120/minute"


def read_rate(text: str) -> RateLimitItem:
    """`120/minute`. Raises `SettingError`."""
    try:
        return parse(text)
    except ValueError as error:
        raise SettingError(f"not a rate: {text[:100]!r}", advice="write it as `120/minute` or `5000/hour`") from error


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of one process. `requests` counts all of them, `submissions` only questions that are handed in."""

    requests: RateLimitItem = field(default_factory=lambda: read_rate(REQUESTS))
    submissions: RateLimitItem = field(default_factory=lambda: read_rate(SUBMISSIONS))
    _limiter: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))

    def count(self, who: str) -> None:
        """Count a request. Raises `Refused` (429)."""
        self._count(self.requests, "requests", who)

    def count_submission(self, who: str) -> None:
        """Count a question that is handed in. Raises `Refused` (429)."""
        self._count(self.submissions, "submissions", who)

    def _count(self, rate: RateLimitItem, what: str, who: str) -> None:
        if self._limiter.hit(rate, what, who):
            return
        seconds = max(1, ceil(self._limiter.get_window_stats(rate, what, who).reset_time - time.time()))
        raise Refused(
            429,
            f"too many {what}: at most {rate}",
            f"ask again in {seconds} s",
            headers={"Retry-After": str(seconds)},
        )
