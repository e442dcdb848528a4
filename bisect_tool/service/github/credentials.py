"""Who we are on GitHub: a machine user with a token, or an App with a private key.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

EARLY = 300.0  # seconds before its end that a token is not used any more
_LIFE = 540.0  # seconds; GitHub takes ten minutes at most
_SKEW = 60.0  # seconds that our clock may be ahead of theirs

# A call of the API without a body of its own: method, path, the header Authorization; gives the answer.
Ask = Callable[[str, str, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AppKey:
    """A GitHub App: its id (or client id) and its private key (PEM)."""

    id: str
    key: str = field(repr=False)

    def header(self, now: float) -> str:
        """What proves to be the App, for some minutes. Raises `ValueError` for a key that is none; needs the package PyJWT."""
        import jwt

        claims = {"iat": int(now - _SKEW), "exp": int(now + _LIFE), "iss": self.id}
        try:
            return f"Bearer {jwt.encode(claims, self.key, 'RS256')}"
        except (jwt.PyJWTError, TypeError) as error:
            raise ValueError(f"the private key cannot be used: {type(error).__name__}") from None


@dataclass
class TokenCredentials:
    """A token of an account of its own."""

    text: str = field(repr=False)

    def header(self, ask: Ask, repository: str) -> str:  # noqa: ARG002  the same everywhere
        """The header Authorization for calls about a repository."""
        return f"Bearer {self.text}"

    def forget(self) -> None:
        """It is not accepted any more: there is no other."""

    def login(self, ask: Ask) -> str:
        """The name that our comments have as their author."""
        return str(ask("GET", "/user", f"Bearer {self.text}")["login"])


@dataclass
class AppCredentials:
    """An App, which has a token for each repository where it is installed, for an hour. `clock`: seconds since 1970."""

    app: AppKey
    clock: Callable[[], float]
    _tokens: dict[str, tuple[str, float]] = field(default_factory=dict, repr=False)

    def header(self, ask: Ask, repository: str) -> str:
        """The header Authorization for calls about a repository."""
        text, end = self._tokens.get(repository, ("", 0.0))
        if self.clock() > end - EARLY:
            proof = self.app.header(self.clock())
            place = ask("GET", f"/repos/{repository}/installation", proof)
            made = ask("POST", f"/app/installations/{int(place['id'])}/access_tokens", proof)
            text, end = str(made["token"]), datetime.fromisoformat(str(made["expires_at"])).timestamp()
            self._tokens[repository] = (text, end)
        return f"Bearer {text}"

    def forget(self) -> None:
        """Tokens are not accepted any more: take others next time."""
        self._tokens.clear()

    def login(self, ask: Ask) -> str:
        """The name that our comments have as their author."""
        return f"{ask('GET', '/app', self.app.header(self.clock()))['slug']}[bot]"


Credentials = TokenCredentials | AppCredentials
