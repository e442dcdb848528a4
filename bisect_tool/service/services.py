"""What the routes of the service work with, opened once for a process."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.service.talk_settings import TalkSettings
from bisect_tool.service.tokens import Scope, Tokens
from bisect_tool.settings import Settings
from bisect_tool.store.database import Database
from bisect_tool.store.results import Results

if TYPE_CHECKING:
    from bisect_tool.service.event_log import EventLog
    from bisect_tool.service.questions import Questions
    from bisect_tool.service.queue import Queue

EVERYBODY_HERE = frozenset({Scope.READ, Scope.SUBMIT, Scope.WORK})
EVERYBODY = frozenset({Scope.READ, Scope.SUBMIT})


@dataclass(frozen=True, slots=True)
class Hosting:
    """How the server is reached.

    `address` is where people find it, without a slash at the end (behind a proxy that is another one than host and port); links
    in what is told to others begin with it. `open_to` is what anybody may do who brings no token; nothing: each needs one.
    `proxies` are the addresses of proxies whose word about the client counts.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    address: str = "http://127.0.0.1:8765"
    open_to: frozenset[Scope] = EVERYBODY_HERE
    proxies: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        """Whether only processes of this machine reach it."""
        return is_loopback(self.host)

    @property
    def is_here_alone(self) -> bool:
        """Whether nobody is said to find it under another address, as behind a proxy."""
        return self.is_loopback and is_loopback(urlsplit(self.address).hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a server that listens on `host` is reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a route may use. `clock` gives seconds since 1970; what decides goes by the clock of the database."""

    settings: Settings
    hosting: Hosting
    cache: CacheFolder
    results: Results
    questions: Questions
    queue: Queue
    events: EventLog
    tokens: Tokens
    clock: Callable[[], float] = field(default=time.time)
    talk: TalkSettings = field(default_factory=TalkSettings)

    @property
    def database(self) -> Database:
        """The database that all of them share."""
        return self.results.database
