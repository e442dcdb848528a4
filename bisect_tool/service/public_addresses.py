"""Which addresses may be called: those of the internet, never those of the network that the server stands in."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence

# They carry an address of the old protocol in one of the new; what stands behind them may be anything.
_WRAPPED = tuple(ipaddress.ip_network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))

Resolve = Callable[[str, int], Sequence[str]]


class AddressRefused(Exception):
    """The host has no address, or one that may not be called."""


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises `OSError`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def checked_address(host: str, port: int, *, may_be_private: bool, ask: Resolve = resolve) -> str:
    """The address to connect to. It is looked up once and used as it is: a second answer might be another one.

    Raises `AddressRefused`; also where only one of several addresses may not be called.
    """
    try:
        found = ask(host, port)
    except (OSError, UnicodeError) as error:
        raise AddressRefused(f"the host is not known: {error}") from error
    if not found:
        raise AddressRefused("the host has no address")
    if not may_be_private and any(not is_public(one) for one in found):
        raise AddressRefused("the host is in a private network; BISECT_WEBHOOK_PRIVATE=on allows that")
    return found[0]


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _WRAPPED):
            return False
    return ip.is_global and not ip.is_multicast
