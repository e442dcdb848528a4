"""`bisect serve`: the server, and workers in the same process, until a signal ends them."""

from __future__ import annotations

import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import uvicorn

from bisect_tool.environments.locks import exclusive
from bisect_tool.errors import PortTaken, SettingError
from bisect_tool.runs.confining import confined, for_strangers
from bisect_tool.runs.workshop import Workshop
from bisect_tool.service.app import make_app
from bisect_tool.service.crew import Crew
from bisect_tool.service.event_log import EventLog
from bisect_tool.service.feed import Feed
from bisect_tool.service.lanes import chosen_lanes
from bisect_tool.service.log_lines import set_up_log
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.service.rates import Rates
from bisect_tool.service.services import EVERYBODY, EVERYBODY_HERE, Hosting, Services
from bisect_tool.service.talk_settings import TalkSettings, read_talk
from bisect_tool.service.talking import voice
from bisect_tool.service.tokens import Tokens
from bisect_tool.service.watcher import watching
from bisect_tool.stopping import Stop
from bisect_tool.store.address import StoreAddress, read_address
from bisect_tool.store.database import Patience
from bisect_tool.store.results import open_results

PATIENCE = 5.0  # seconds that a request waits for a database that does not answer
GRACE = 10  # seconds that requests have to end when the server stops
MOST_CONNECTIONS = 2000
_LOG = logging.getLogger("bisect.service")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; `workers` in this process, `is_open`: to everybody, `address` as in `Hosting`."""

    host: str
    port: int
    workers: int = 1
    is_open: bool = False
    address: str | None = None
    proxies: tuple[str, ...] = ()
    rates: Rates = field(default_factory=Rates)


def serve(workshop: Workshop, wanted: Wanted, tell: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `tell` hears the address once it is open.

    Raises `PortTaken`, `SettingError` where nobody may come in, and what `open_results` raises.
    """
    with contextlib.closing(listen(wanted.host, wanted.port)) as listening:
        place = address_of_store(workshop)
        set_up_log(place)
        hosting = _hosting(wanted, listening.getsockname()[1])
        with opened(workshop, place, hosting) as shut:
            services = replace(shut, hosting=hosting_for(shut.tokens, hosting, is_open=wanted.is_open))
            with (
                hands(guarded(workshop, services, wanted.workers), wanted.workers) as stop,
                voice(services, stop),
                watching(workshop, _LOG.info),
            ):
                server = _Server(services, wanted, stop)
                tell(f"bisect serves at {hosting.address} ({place}); Ctrl-C ends it")
                server.run([listening])


def _hosting(wanted: Wanted, port: int) -> Hosting:
    shown = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
    address = wanted.address or f"http://{shown}:{port}"
    return Hosting(wanted.host, port, address.rstrip("/"), frozenset(), wanted.proxies)


class _Server(uvicorn.Server):
    """The HTTP server. Its end is that of the workers and of the streams: all of them begin to stop at once."""

    def __init__(self, services: Services, wanted: Wanted, stop: Stop) -> None:
        app = make_app(services, wanted.rates)
        self._feed: Feed = app.state.feed
        self._stop = stop
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                proxy_headers=bool(wanted.proxies),
                forwarded_allow_ips=list(wanted.proxies),
                limit_concurrency=MOST_CONNECTIONS,
                timeout_keep_alive=15,
                timeout_graceful_shutdown=GRACE,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams with a word, so that what is left ends by itself."""
        self._stop.set()
        self._feed.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """While it runs, signals end it and nothing else: that it was ended so is a clean exit."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def guarded(workshop: Workshop, services: Services, workers: int) -> Workshop:
    """The workshop of so many workers: with the sandbox on as soon as anybody may ask who is not on this machine.

    Raises `SettingError` when it is on and does not work here, so that this is known before the first question.
    """
    if not workers or not asked_by_others(services.hosting, services.talk):
        return workshop
    settings = for_strangers(workshop.settings)
    return replace(workshop, settings=settings, environ=confined(settings, workshop.environ))


def asked_by_others(hosting: Hosting, talk: TalkSettings) -> bool:
    """Whether questions may come from elsewhere: over HTTP, or from a comment on GitHub."""
    return hosting.open_to != EVERYBODY_HERE or bool(talk.github.secret)


@contextmanager
def hands(workshop: Workshop, count: int) -> Iterator[Stop]:
    """So many workers in threads of this process; at the end they give back what they have not finished.

    They wait longer for the database than a request does: they have a connection to it of their own.
    """
    if not count:
        yield Stop()
        return
    with workshop.results(_LOG.warning) as results:
        crew = Crew(workshop, results.database, chosen_lanes(None, workshop.environ), count, tell=_LOG.info)
        crew.start()
        try:
            yield crew.stop
        finally:
            crew.stop.set()
            crew.join()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises `PortTaken`."""
    where = f"{host}:{port}"
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(1024)
        except BaseException:
            listening.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"the port {port} is taken, perhaps by another `bisect serve`",
                where=where,
                advice="choose another one with --port, or end what listens there",
            ) from error
        raise PortTaken(
            f"nobody can listen there: {error.strerror or error}", where=where, advice="correct --host and --port"
        ) from error
    return listening


def address_of_store(workshop: Workshop) -> StoreAddress:
    """Where the results database is."""
    own = workshop.cache.database
    return read_address(workshop.settings.store or f"sqlite:///{own}", own)


@contextmanager
def opened(workshop: Workshop, place: StoreAddress, hosting: Hosting) -> Iterator[Services]:
    """The services over the database at `place`. A request waits for a server that is away only as long as a client might."""
    lock = workshop.cache.locks / "database.lock"
    patience = Patience(_LOG.warning, limit=PATIENCE)
    with open_results(place, lambda: exclusive(lock), patience=patience, span=workshop.settings.lease) as results:
        database = results.database
        yield Services(
            settings=workshop.settings,
            hosting=hosting,
            cache=workshop.cache,
            results=results,
            questions=Questions(database),
            queue=Queue(database),
            events=EventLog(database),
            tokens=Tokens(database),
            talk=read_talk(workshop.environ, workshop.settings.github_api),
        )


def hosting_for(tokens: Tokens, hosting: Hosting, *, is_open: bool) -> Hosting:
    """The hosting with what anybody may do: all that is needed on loopback as long as there are no tokens.

    Raises `SettingError` when nobody could come in, or everybody without that having been said.
    """
    are_there = tokens.are_there()
    if is_open:
        open_to = EVERYBODY
    elif hosting.is_here_alone and not are_there and not hosting.proxies:
        open_to = EVERYBODY_HERE
    elif are_there:
        open_to = frozenset()
    else:
        raise SettingError(
            "whoever reaches this address could have code of theirs run here: there are no tokens yet",
            where=f"{hosting.host}:{hosting.port}",
            advice="make one with `bisect token create NAME`, or say --open if everybody there may ask",
        )
    return replace(hosting, open_to=open_to)
