"""How the service talks to others, as the environment says: secrets have no place in files or on command lines.

`docs/github.md` and `docs/webhooks.md` explain each of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlsplit

from bisect_tool.errors import SettingError
from bisect_tool.service.github.client import API
from bisect_tool.service.github.credentials import AppKey
from bisect_tool.service.github.issue import HOST, REPOSITORY
from bisect_tool.service.signing import WEBHOOK_PREFIX, webhook_secret

ALLOWED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_ASSOCIATIONS = ALLOWED | {"CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "NONE"}
_ON, _OFF = {"on", "1", "true", "yes"}, {"", "off", "0", "false", "no"}
MOST_DAILY = 1000
LEAST_SECRET = 16  # characters


@dataclass(frozen=True, slots=True)
class GitHubSettings:
    """What may be done on GitHub.

    `repositories` (`owner/name`, in lower case) are those where anything is said or heard; `posts` false: nothing is sent, what
    would have been is kept. At most `daily` comments are made in 24 hours in each repository. `associations` are those with a
    repository whose commands count. `askers` are the names of tokens whose specs may name an issue to comment on, None: all.
    `secret` is that of the webhook, empty: none is heard. `token` is that of an account; an `app` has its own.
    `seconds_a_day` is how long workers work for one person in a day, None: without a bound. `host` is that of the web pages.
    """

    token: str = field(default="", repr=False)
    app: AppKey | None = None
    posts: bool = False
    repositories: frozenset[str] = frozenset()
    daily: int = 20
    associations: frozenset[str] = ALLOWED
    askers: frozenset[str] | None = None
    secret: str = field(default="", repr=False)
    seconds_a_day: float | None = None
    api: str = API
    host: str = HOST


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook that is called; `secrets` sign, the newest first. The address may hold a secret too, its `name` does not."""

    address: str = field(repr=False)
    secrets: tuple[bytes, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The host, and digits that tell two addresses there apart."""
        return f"{urlsplit(self.address).hostname} {sha256(self.address.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class TalkSettings:
    """Everything; by itself nothing is said and nothing is heard. `may_be_private`: webhooks may be in private networks."""

    github: GitHubSettings = field(default_factory=GitHubSettings)
    targets: tuple[Target, ...] = ()
    may_be_private: bool = False


def read_talk(environ: Mapping[str, str], github_api: str | None = None) -> TalkSettings:
    """The settings that the environment has; `github_api` is the address of another API than GitHub's own.

    Raises `SettingError`; its message holds no secret.
    """
    is_private = _switch(environ, "BISECT_WEBHOOK_PRIVATE")
    return TalkSettings(_github(environ, github_api), _targets(environ, may_be_private=is_private), is_private)


def _github(environ: Mapping[str, str], api: str | None) -> GitHubSettings:
    found = GitHubSettings(
        token=environ.get("BISECT_GITHUB_TOKEN", "").strip(),
        app=_app(environ),
        posts=_switch(environ, "BISECT_GITHUB_POST"),
        repositories=_repositories(environ),
        daily=_number(environ, "BISECT_GITHUB_DAILY", 20),
        associations=_associations(environ),
        askers=_askers(environ),
        secret=environ.get("BISECT_GITHUB_WEBHOOK_SECRET", "").strip(),
        seconds_a_day=_minutes(environ, "BISECT_GITHUB_MINUTES_A_DAY"),
        api=(api or API).rstrip("/"),
        host=_host(api or API),
    )
    if found.posts and not found.token and found.app is None:
        advice = "set BISECT_GITHUB_TOKEN as well, or BISECT_GITHUB_APP_ID and BISECT_GITHUB_APP_KEY"
        raise _wrong("BISECT_GITHUB_POST", "nothing can be posted without a token", advice)
    if found.secret and len(found.secret) < LEAST_SECRET:
        what = f"the secret is shorter than {LEAST_SECRET} characters"
        raise _wrong("BISECT_GITHUB_WEBHOOK_SECRET", what, "make one with `openssl rand -hex 32`")
    return found


def _app(environ: Mapping[str, str]) -> AppKey | None:
    number, key = (environ.get(f"BISECT_GITHUB_APP_{part}", "").strip() for part in ("ID", "KEY"))
    if bool(number) != bool(key):
        raise _wrong("BISECT_GITHUB_APP_ID", "an App has an id and a private key", "set BISECT_GITHUB_APP_KEY as well")
    if not number:
        return None
    app = AppKey(number, key.replace("\\n", "\n"))  # files of environments hold one line for each variable
    try:
        app.header(0.0)
    except (ValueError, ImportError) as error:
        advice = "it is the text of the PEM file that GitHub gave; the extra `service` brings what reads it"
        raise _wrong("BISECT_GITHUB_APP_KEY", str(error), advice) from None
    return app


def _host(api: str) -> str:
    host = urlsplit(api).hostname or HOST
    return HOST if host == f"api.{HOST}" else host


def _repositories(environ: Mapping[str, str]) -> frozenset[str]:
    names = _words(environ, "BISECT_GITHUB_REPOSITORIES")
    for name in names:
        if not REPOSITORY.fullmatch(name):
            raise _wrong("BISECT_GITHUB_REPOSITORIES", f"not a repository: {name[:200]!r}", "write owner/name")
    return frozenset(name.lower() for name in names)


def _associations(environ: Mapping[str, str]) -> frozenset[str]:
    names = frozenset(name.upper() for name in _words(environ, "BISECT_GITHUB_ASSOCIATIONS"))
    if odd := sorted(names - _ASSOCIATIONS):
        advice = f"write some of {', '.join(sorted(_ASSOCIATIONS))}"
        raise _wrong("BISECT_GITHUB_ASSOCIATIONS", f"not an association: {odd[0][:100]!r}", advice)
    return names or ALLOWED


def _askers(environ: Mapping[str, str]) -> frozenset[str] | None:
    names = frozenset(_words(environ, "BISECT_GITHUB_ASKERS"))
    return names or None


def _targets(environ: Mapping[str, str], *, may_be_private: bool) -> tuple[Target, ...]:
    addresses = [one for one in environ.get("BISECT_WEBHOOKS", "").split() if one]
    words = environ.get("BISECT_WEBHOOK_SECRET", "").split()
    if addresses and not words:
        advice = f"make a secret: `echo {WEBHOOK_PREFIX}$(openssl rand -base64 32)`"
        raise _wrong("BISECT_WEBHOOK_SECRET", "webhooks are not called without a secret to sign with", advice)
    try:
        secrets = tuple(webhook_secret(word) for word in words)
    except ValueError as error:
        advice = (
            f"it is {WEBHOOK_PREFIX} and 24 to 64 bytes in base 64; several are separated by spaces, the newest first"
        )
        raise _wrong("BISECT_WEBHOOK_SECRET", f"the secret cannot be used: {error}", advice) from None
    for address in addresses:
        kinds = ("https", "http") if may_be_private else ("https",)
        if not _is_callable(address, kinds):
            what = f"not an address to call: {address.partition('/')[0][:20]}//…"
            raise _wrong("BISECT_WEBHOOKS", what, "it begins with https://; several are separated by spaces")
    return tuple(Target(address, secrets) for address in addresses)


def _is_callable(address: str, kinds: Collection[str]) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in kinds and bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:  # no port, or no address in brackets
        return False


def _switch(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text not in _ON | _OFF:
        raise _wrong(name, f"neither on nor off: {text[:40]!r}", "write `on` or `off`")
    return text in _ON


def _number(environ: Mapping[str, str], name: str, usual: int) -> int:
    text = environ.get(name, "").strip() or str(usual)
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > MOST_DAILY:
        raise _wrong(name, f"not a number from 0 to {MOST_DAILY}: {text[:40]!r}", "correct the value")
    return int(text)


def _minutes(environ: Mapping[str, str], name: str) -> float | None:
    """Minutes as seconds; None where nothing is said."""
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) == 0:
        raise _wrong(name, f"not a number of minutes: {text[:40]!r}", "correct the value, or leave it out: no bound")
    return 60.0 * int(text)


def _words(environ: Mapping[str, str], name: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", environ.get(name, "")) if word]


def _wrong(name: str, what: str, advice: str) -> SettingError:
    return SettingError(f"the setting {name} cannot be used: {what}", where=name, advice=advice)
