"""What to tell somebody when an index does not answer as an index does."""

from __future__ import annotations

import requests
from urllib3.exceptions import ReadTimeoutError

from bisect_tool.errors import IndexUnreachable

_SERVER_ERROR, _TOO_MANY = 500, 429
_NETWORK = "Check the network and the proxy, then start again; without a network use the channel `wheelhouse`."


def unreachable(error: requests.RequestException, where: str, option: str = "--index") -> IndexUnreachable:
    """The error for a request that failed; `option` is the flag that names another index."""
    if error.response is not None:
        return refused(error.response.status_code, where, option)
    for kind, (what, advice) in _FAULTS.items():
        if isinstance(error, kind) or (kind is requests.Timeout and _waited_too_long(error)):
            return IndexUnreachable(what, where=where, advice=advice.format(option=option))
    what = f"the index cannot be asked ({type(error).__name__})"
    return IndexUnreachable(what, where=where, advice=_ANOTHER.format(option=option))


def _waited_too_long(error: requests.RequestException) -> bool:
    """After the last attempt the timeout is only the reason of another error."""
    return any(isinstance(getattr(cause, "reason", None), ReadTimeoutError) for cause in error.args)


def refused(status: int, where: str, option: str = "--index") -> IndexUnreachable:
    """The error for an answer with that status."""
    if status in {401, 403}:
        what = f"the index refused to answer (status {status})"
        advice = "Check the user name and password in the address of the index, and the spelling of `package`."
    else:
        what = f"the index answered with an error (status {status})"
        advice = (_LATER if status >= _SERVER_ERROR or status == _TOO_MANY else _ANOTHER).format(option=option)
    return IndexUnreachable(what, where=where, advice=advice)


def not_a_page(where: str, option: str = "--index") -> IndexUnreachable:
    """The error for a page that is no index page: a login, a list of other things."""
    advice = _ANOTHER.format(option=option)
    if option == "--index":
        advice += " It often ends in /simple/."
    return IndexUnreachable("the answer is not an index page", where=where, advice=advice)


_ANOTHER = "Check the address of the index, or give another one with {option}."
_LATER = "Start again later, or give another index with {option}."
_TRUST = "Name the certificates that you trust in REQUESTS_CA_BUNDLE, or give another index with {option}."
# Looked through in this order: a connection error may be one of the special ones before it.
_FAULTS: dict[type[Exception], tuple[str, str]] = {
    requests.Timeout: ("the index did not answer in time", _NETWORK),
    requests.exceptions.SSLError: ("the certificate of the index was not accepted", _TRUST),
    requests.exceptions.ProxyError: ("the proxy in front of the index cannot be reached", _NETWORK),
    requests.ConnectionError: ("the index cannot be reached", _NETWORK),
    requests.exceptions.ChunkedEncodingError: ("the index stopped in the middle of its answer", _LATER),
    requests.exceptions.ContentDecodingError: ("the answer of the index is damaged", _LATER),
    ValueError: ("the answer is not an index page", _ANOTHER),
}
