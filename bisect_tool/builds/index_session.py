"""The HTTP session for index pages: patient, polite, and with a memory as long as the index allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import requests
from cachecontrol import CacheControlAdapter
from cachecontrol.caches import FileCache
from requests.adapters import HTTPAdapter
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

from bisect_tool import __version__

TIMEOUTS = (10.0, 60.0)
_TRIES = 3
_LONGEST_WAIT = 30.0


class _ShortRetry(Retry):
    """Does not sleep for an hour when a server asks for that; the failure is then reported instead."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        asked = super().get_retry_after(response)
        return None if asked is None else min(asked, _LONGEST_WAIT)


def open_session(
    pages: Path | None, *, backoff: float = 0.5, connections: int = 10, tries: int = _TRIES
) -> requests.Session:
    """A session that tries several times and keeps pages in the folder `pages` for as long as their headers say.

    `backoff` is in seconds: the wait before the third try is twice that. `connections` are kept open for each host.
    """
    session = requests.Session()
    session.headers["User-Agent"] = f"bisect-tool/{__version__}"
    adapter = _adapter(pages, backoff, connections, tries)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _adapter(pages: Path | None, backoff: float, connections: int, tries: int) -> HTTPAdapter:
    retries = _ShortRetry(
        total=tries - 1,
        backoff_factor=backoff,
        status_forcelist=(429, 500, 502, 503, 504),
        raise_on_status=False,
    )
    settings: dict[str, Any] = {"max_retries": retries, "pool_maxsize": connections}
    return CacheControlAdapter(FileCache(pages), **settings) if pages else HTTPAdapter(**settings)
