"""The wheel of a build on its way to uv: fetched by us, once per machine, and handed on while it arrives.

Only the file that the build itself is: its address and what tells its content are known. What it needs is fetched by uv.
uv also fetches the build where ours could not do the same: with a keyring, for a host whose certificate is not to be checked,
and where nothing is known of the content, so that a replaced file could not be told from the old one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation
from bisect_tool.builds.index_address import without_credentials
from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.kept_wheels import file_for, is_sound, lock_for
from bisect_tool.environments.partial_file import Label, open_partial
from bisect_tool.environments.throttle import Throttle
from bisect_tool.environments.uv import Download, Uv
from bisect_tool.environments.uv_errors import Blame, UvFailure

if TYPE_CHECKING:
    import requests

    from bisect_tool.environments.fetching import Fetch, Source
    from bisect_tool.environments.serving import WheelServer

_LEFT_TO_UV = ("UV_KEYRING_PROVIDER", "UV_INSECURE_HOST")
_BETWEEN_EVENTS = 0.25  # seconds
_WORTH_TELLING = 1 << 20  # bytes; uv keeps silent about smaller files, too
_SILENCE = 30.0  # seconds without a byte until a connection is given up: going on costs little
_CONNECT = 10.0
_RETRIES = 5


@dataclass(frozen=True, slots=True)
class Wheels:
    """Fetches wheels for the environments of `cache`; `bandwidth` bounds bytes a second, None does not."""

    cache: CacheFolder
    environ: Mapping[str, str] = field(repr=False)
    bandwidth: int | None = None

    @contextmanager
    def offered(
        self,
        build: Build,
        installation: Installation,
        uv: Uv,
        on_download: Callable[[Download], None],
        waiting: Callable[[], None] = lambda: None,
    ) -> Iterator[Offer]:
        """`installation` with an address on this machine for the build, served while the block lasts.

        Another process that fetches the same wheel is waited for. Raises `CacheNotWritable`, `DiskFull`.
        """
        address = _address_of(build, installation)
        if address is None or any(self.environ.get(name) for name in _LEFT_TO_UV):
            yield Offer(installation, uv, on_download)
            return
        digest = hashlib.sha256(build.identity.encode()).hexdigest()[:24]
        with locks.exclusive(lock_for(self.cache, digest), waiting, uv.stop):
            yield from self._served(build, installation, uv, on_download, address, digest)

    def _served(
        self,
        build: Build,
        installation: Installation,
        uv: Uv,
        on_download: Callable[[Download], None],
        address: str,
        digest: str,
    ) -> Iterator[Offer]:
        from bisect_tool.environments.fetching import Fetch
        from bisect_tool.environments.serving import serve

        label = Label(build.package, build.version, build.filename)
        source = self._source(build, _with_user(address, installation.options))
        progress = _Progress(canonicalize_name(build.package), on_download)
        throttle = Throttle(self.bandwidth, self.cache.locks / "bandwidth") if self.bandwidth else None

        def begin() -> Fetch:
            file = open_partial(file_for(self.cache, digest), label)
            return Fetch(source, file, throttle, arrived=progress.arrived)

        with serve(begin(), digest, _secret(self.cache), build.filename) as server:
            host = str(server.server_address[0])
            offer = Offer(
                _moved(build, installation, address, server.address),
                replace(uv, environ=_without_proxy(uv.environ, host)),
                progress.of_others,
                server,
                begin,
            )
            yield offer
        if offer.is_taken:
            with suppress(OSError):  # it is only in the way
                server.fetch.file.remove()

    def _source(self, build: Build, address: str) -> Source:
        from bisect_tool.environments.fetching import Source

        patience = min(_number(self.environ.get("UV_HTTP_TIMEOUT"), _SILENCE), _SILENCE)
        return Source(
            address=address,
            shown=without_credentials(address),
            open=lambda: _session(self.environ),
            size=build.size,
            sha256=build.sha256,
            retries=int(_number(self.environ.get("UV_HTTP_RETRIES"), _RETRIES)),
            timeouts=(_number(self.environ.get("UV_HTTP_CONNECT_TIMEOUT"), _CONNECT), patience),
        )


@dataclass(slots=True)
class Offer:
    """What uv is called with. `is_taken` is set when uv has installed the build: the file has served then.

    `is_published_damaged`: uv could not use what we fetched, and it is what the index has: the hash is right, or where there is
    none the size, and it is no sound archive.
    """

    installation: Installation
    uv: Uv
    on_download: Callable[[Download], None]
    server: WheelServer | None = None
    begin: Callable[[], Fetch] | None = None
    is_taken: bool = False
    is_published_damaged: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether we fetch the wheel, not uv."""
        return self.server is not None

    def after(self, failure: UvFailure) -> UvFailure:
        """What a failed call of uv means: our download may be the cause. The next call finds a new one."""
        if self.server is None or self.begin is None:
            return failure
        fetch = self.server.fetch
        fetch.close()
        if failure.blame is Blame.DAMAGED:
            self.is_published_damaged = fetch.file.is_complete and _is_as_published(fetch.file.path, fetch.source)
            fetch.file.remove()
        self.server.fetch = self.begin()
        if fetch.fault is None:
            return failure
        text = f"{failure.text}\n{fetch.fault}"
        return UvFailure(Blame.DISK if fetch.fault.is_full else Blame.NETWORK, str(fetch.fault), text)


@dataclass(slots=True)
class _Progress:
    """Tells of the bytes of `name` a few times a second, and leaves out what uv says of the same wheel."""

    name: str
    tell: Callable[[Download], None]
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arrived(self, here: int, size: int) -> None:
        with self._lock:
            now = time.monotonic()
            if size < _WORTH_TELLING or (here < size and now < self._next):
                return
            if not self._next:
                self.tell(Download(self.name, size, done=False))
            self._next = now + _BETWEEN_EVENTS
            self.tell(Download(self.name, size, done=here >= size, here=here))

    def of_others(self, download: Download) -> None:
        if canonicalize_name(download.name) != self.name:
            self.tell(download)


def _is_as_published(file: Path, source: Source) -> bool:
    """Whether a file that uv could not use is the one that the index has; its size was looked at when it was fetched."""
    if source.sha256 is not None:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == source.sha256
    return source.size is not None and not is_sound(file)


def _address_of(build: Build, installation: Installation) -> str | None:
    """The address of the build's file; None where uv is to fetch it."""
    is_told_apart = bool(build.sha256 or build.fingerprint)
    if not installation.requirements or installation.offline or not is_told_apart or build.is_source:
        return None
    name, _, address = installation.requirements[0].partition(" @ ")
    is_its_own = canonicalize_name(name) == canonicalize_name(build.package)
    return urldefrag(address).url if is_its_own and address.startswith(("http://", "https://")) else None


def _moved(build: Build, installation: Installation, address: str, here: str) -> Installation:
    """The same, with the address of the file on this machine; it changes with the content, so that uv need not ask again."""
    options = list(installation.options)
    for number in range(len(options) - 1, 0, -1):
        if options[number - 1] == "--refresh-package" and options[number] == build.package:
            del options[number - 1 : number + 1]
    return replace(
        installation,
        requirements=tuple(text.replace(address, here) for text in installation.requirements),
        overrides=tuple(text.replace(address, here) for text in installation.overrides),
        options=tuple(options),
    )


def _with_user(address: str, options: tuple[str, ...]) -> str:
    """With the user and password of the index, where the file lies on its host; so does uv."""
    index = dict(pairwise(options)).get("--default-index", "")
    user, at, host = urlsplit(index).netloc.rpartition("@")
    parts = urlsplit(address)
    if not at or "@" in parts.netloc or (parts.scheme, parts.netloc) != (urlsplit(index).scheme, host):
        return address
    return urlunsplit(parts._replace(netloc=f"{user}@{host}"))


def _without_proxy(environ: Mapping[str, str], host: str) -> dict[str, str]:
    """uv must not ask a proxy for what lies on this machine."""
    names = ("NO_PROXY", "no_proxy")
    known = next((environ[name] for name in names if environ.get(name)), "")
    return {**environ, **dict.fromkeys(names, f"{known},{host}" if known else host)}


def _session(environ: Mapping[str, str]) -> requests.Session:
    """With the certificates that uv would trust, where requests is not told of others."""
    from bisect_tool.builds.index_session import open_session

    session = open_session(None, tries=1)
    own = environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE")
    named = own or environ.get("SSL_CERT_FILE") or _of_the_system(environ)
    if named and Path(named).exists():
        session.verify = named
    return session


def _of_the_system(environ: Mapping[str, str]) -> str | None:
    if not any(environ.get(name) for name in ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS")):
        return None
    import ssl

    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath


def _number(text: str | None, usual: float) -> float:
    try:
        return max(0.0, float(text)) if text else usual
    except ValueError:
        return usual


def _secret(cache: CacheFolder) -> str:
    """Sixteen hexadecimal digits of this cache: other users of the machine do not know the address of a private wheel."""
    path = cache.wheels / "secret"
    cache.wheels.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        part = path.with_name(f"secret.{os.getpid()}.{threading.get_ident()}")
        part.touch(0o600)
        part.write_text(secrets.token_hex(8), encoding="ascii")
        with suppress(FileExistsError):
            os.link(part, path)  # the first one stays
        part.unlink()
    return path.read_text(encoding="ascii")
