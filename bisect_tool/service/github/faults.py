"""What can go wrong between us and GitHub, told apart by what it means for a post."""

from __future__ import annotations


class Trouble(Exception):
    """The root. `said` is for people, without any secret."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class Limited(Trouble):
    """GitHub wants to hear nothing for `seconds`. Nothing was done."""

    def __init__(self, said: str, seconds: float) -> None:
        super().__init__(said)
        self.seconds = seconds


class Unclear(Trouble):
    """No answer, or one that says nothing: it may have been done. Worth another try, after a look."""


class Rejected(Trouble):
    """It was not done, and will not be: no such issue, no right, a locked issue. `status` is that of the answer."""

    def __init__(self, said: str, status: int) -> None:
        super().__init__(said)
        self.status = status


class TokenRefused(Trouble):
    """GitHub does not accept the token: nothing can be done until somebody sets another one."""
