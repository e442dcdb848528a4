"""Asking the place of the nightlies: pages, single files, parts of files; with few requests, many at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlsplit, urlunsplit

import requests

from bisect_tool.builds.index_address import without_credentials
from bisect_tool.builds.index_faults import refused, unreachable
from bisect_tool.builds.index_session import open_session
from bisect_tool.builds.nightly.memory import FileFacts
from bisect_tool.builds.nightly.tables import VARIANT
from bisect_tool.errors import IndexUnreachable, SettingError

OPTION = "--nightly-index"
PYTORCHS_OWN = "https://download.pytorch.org/whl/nightly"
WORKERS = 16
_TIMEOUTS = (10.0, 30.0)
# Amazon's storage answers 403 for a file that is not there when nobody may list the folder.
_ABSENT = frozenset({403, 404, 410})
_NO_HEAD = frozenset({405, 501})
_PART = 206
_OK = (200, _PART)
_TRIES = 3
_PLAIN = {"Accept-Encoding": "identity"}  # the length of the file, not of something packed on the way
# A few files that cannot be asked are left out with the reason; more of them mean that the index is in trouble.
_MOST_UNANSWERED, _MOST_UNANSWERED_SHARE = 3, 0.05


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The index gave no usable answer about a file, after several attempts; `reason` is for people."""

    reason: str
    error: IndexUnreachable = field(repr=False, compare=False)


@dataclass(slots=True)
class Site:
    """The index of nightlies at `address`, without user and password; these are added for its own host only.

    `refuses_head`: it was seen to answer no HEAD, so that one byte is asked for instead.
    """

    address: str
    user: str = field(default="", repr=False)
    backoff: float = 0.5
    refuses_head: bool = False

    def url(self, *parts: str) -> str:
        """The address of something below the index."""
        return "/".join((self.address, *(quote(part, safe="/") for part in parts)))

    def dressed(self, address: str) -> str:
        """The address with user and password where it is on the host of the index."""
        mine, its = urlsplit(self.address), urlsplit(address)
        if not self.user or (mine.scheme, mine.netloc) != (its.scheme, its.netloc):
            return address
        return urlunsplit(its._replace(netloc=f"{self.user}@{its.netloc}"))

    def open(self) -> requests.Session:
        """A session for it; to be closed."""
        return open_session(None, backoff=self.backoff, connections=WORKERS)

    def page(self, address: str, accept: str) -> requests.Response | None:
        """The page or other small file at an address, None when there is none.

        Raises `IndexUnreachable`.
        """
        with self.open() as session:
            return self._whole(session, address, {"Accept": accept})

    def part(self, session: requests.Session, address: str, span: str) -> requests.Response | None:
        """A part of a file, such as ``bytes=0-99``; None when there is no file. A server that gives no parts is not read on.

        Raises `IndexUnreachable`.
        """
        return self._whole(session, address, {**_PLAIN, "Range": span}, only_parts=True)

    def _whole(
        self, session: requests.Session, address: str, headers: Mapping[str, str], *, only_parts: bool = False
    ) -> requests.Response | None:
        """An answer with all of its body: one that ends too early is asked for again, which the session does not do."""
        fault = requests.RequestException()
        for _ in range(_TRIES):
            with self._answer(session, address, headers) as answer:
                if answer.status_code in _ABSENT:
                    return None
                if answer.status_code not in _OK:
                    raise refused(answer.status_code, address, OPTION)
                try:
                    _body = answer.content if not only_parts or answer.status_code == _PART else b""
                except requests.RequestException as error:
                    fault = error
                else:
                    return answer
        raise unreachable(fault, address, OPTION) from fault

    def _answer(self, session: requests.Session, address: str, headers: Mapping[str, str]) -> requests.Response:
        try:
            return session.get(self.dressed(address), headers=headers, timeout=_TIMEOUTS, stream=True)
        except requests.RequestException as error:
            raise unreachable(error, address, OPTION) from error

    def ask(
        self, addresses: Iterable[str], tell: Callable[[int], None] = lambda _done: None
    ) -> Mapping[str, FileFacts | Unanswered]:
        """What is known of each file, by its address, asked in parallel; `tell` takes the number of answers so far.

        Raises `IndexUnreachable` when too many are not answered.
        """
        wanted = list(dict.fromkeys(addresses))
        answers: dict[str, FileFacts | Unanswered] = {}
        with self.open() as session, ThreadPoolExecutor(WORKERS, thread_name_prefix="nightly") as pool:
            futures = {address: pool.submit(self._facts, session, address) for address in wanted}
            try:
                for address, future in futures.items():
                    answers[address] = future.result()
                    tell(len(answers))
                    _give_up_if_in_trouble(answers, len(wanted))
            finally:
                pool.shutdown(cancel_futures=True)
        return answers

    def _facts(self, session: requests.Session, address: str) -> FileFacts | Unanswered:
        try:
            with self._asked(session, self.dressed(address)) as answer:
                if answer.status_code in _ABSENT:
                    return FileFacts(there=False)
                if answer.status_code in _OK:
                    return _facts_of(answer)
                error = refused(answer.status_code, address, OPTION)
        except requests.RequestException as fault:
            error = unreachable(fault, address, OPTION)
        return Unanswered(error.what, error)

    def _asked(self, session: requests.Session, address: str) -> requests.Response:
        """HEAD, or one byte where a server refuses that."""
        if not self.refuses_head:
            answer = session.head(address, headers=_PLAIN, allow_redirects=True, timeout=_TIMEOUTS)
            if answer.status_code not in _NO_HEAD:
                return answer
            answer.close()
            self.refuses_head = True
        return session.get(address, headers={**_PLAIN, "Range": "bytes=0-0"}, stream=True, timeout=_TIMEOUTS)


def open_site(address: str | None, backoff: float = 0.5) -> Site:
    """The site at an address as the user gave it, None: PyTorch's own.

    Raises:
        SettingError: the address is that of one variant, not of all nightlies.
    """
    url = (address or PYTORCHS_OWN).rstrip("/")
    shown, _, last = without_credentials(url).rpartition("/")
    if VARIANT.fullmatch(last):
        raise SettingError(
            f"the index of nightlies ends in the folder of a variant: {last}",
            where=f"{OPTION} {shown}/{last}",
            advice=f"Give {shown}, and the variant with `variant:` in the spec or --variant.",
        )
    return Site(without_credentials(url), urlsplit(url).netloc.rpartition("@")[0], backoff)


def _give_up_if_in_trouble(answers: Mapping[str, FileFacts | Unanswered], wanted: int) -> None:
    failed = [answer for answer in answers.values() if isinstance(answer, Unanswered)]
    if len(failed) > max(_MOST_UNANSWERED, wanted * _MOST_UNANSWERED_SHARE):
        raise failed[0].error


def _facts_of(answer: requests.Response) -> FileFacts:
    total = answer.headers.get("Content-Range", "").rpartition("/")[2] if answer.status_code == _PART else ""
    size = total or answer.headers.get("Content-Length", "")
    return FileFacts(
        there=True,
        size=int(size) if size.isdecimal() else None,
        modified=_time(answer.headers.get("Last-Modified")),
        etag=answer.headers.get("ETag"),
    )


def _time(text: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except ValueError:
        return None
