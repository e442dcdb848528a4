"""Calling webhooks: what happened, signed, at least once. `docs/webhooks.md` explains it to whoever receives them.

A receiver may get a delivery twice, when its answer was lost; the header `webhook-id` is the same then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

import urllib3

from bisect_tool import __version__
from bisect_tool.service.posts import Post, Posts, PostState
from bisect_tool.service.public_addresses import AddressRefused, Resolve, checked_address, resolve
from bisect_tool.service.signing import sign_webhook
from bisect_tool.service.talk_settings import Target

PAUSES = (5.0, 60.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0)  # seconds before the second attempt, the third …
MOST_ATTEMPTS = len(PAUSES) + 1
TIMEOUT = urllib3.Timeout(connect=10.0, read=15.0)
LONGEST_WAIT = 86400.0  # seconds that a receiver may ask for with Retry-After


@dataclass(frozen=True, slots=True)
class Heard:
    """What a receiver answered; `wants_pause` are the seconds of its Retry-After."""

    status: int
    wants_pause: float | None = None


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """Sends the posts that are for webhooks. `clock` gives seconds since 1970, `ask` looks up hosts."""

    posts: Posts
    targets: tuple[Target, ...]
    may_be_private: bool = False
    clock: Callable[[], float] = time.time
    ask: Resolve = resolve

    def send(self, post: Post) -> None:
        """Send a post that was taken, and note what became of it. Raises `LeaseOver`."""
        target = next((one for one in self.targets if one.name == post.address), None)
        if target is None:
            self.posts.end(post, PostState.LEFT, "this webhook is not set up any more")
            return
        try:
            heard = self._call(target, post)
        except AddressRefused as error:
            self._again(post, str(error), None)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            self._again(post, f"no answer: {type(error).__name__}", None)
        else:
            self._note(post, heard)

    def _note(self, post: Post, heard: Heard) -> None:
        if HTTPStatus.OK <= heard.status < HTTPStatus.MULTIPLE_CHOICES:
            self.posts.sent(post, str(heard.status))
        elif heard.status == HTTPStatus.GONE:
            self.posts.end(post, PostState.FAILED, "the receiver wants nothing any more (410)")
        else:
            self._again(post, f"the receiver answered with status {heard.status}", heard.wants_pause)

    def _again(self, post: Post, why: str, wants_pause: float | None) -> None:
        if post.attempts + 1 >= MOST_ATTEMPTS:
            self.posts.end(post, PostState.FAILED, f"tried {MOST_ATTEMPTS} times: {why}")
            return
        pause = PAUSES[min(post.attempts, len(PAUSES) - 1)]
        self.posts.later(post, min(max(pause, wants_pause or 0.0), LONGEST_WAIT), why)

    def _call(self, target: Target, post: Post) -> Heard:
        parts = urlsplit(target.address)
        host, is_safe = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if is_safe else 80)
        address = checked_address(host, port, may_be_private=self.may_be_private, ask=self.ask)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        body = post.body.encode()
        with _connected(address, port, host if is_safe else None) as pool:
            answer = pool.request(
                "POST",
                path,
                body=body,
                headers=self._headers(target, post, body) | {"Host": parts.netloc},
                redirect=False,  # it would lead to where nobody has looked
                preload_content=False,  # nothing of the answer but its status is of interest
            )
            answer.close()
        after = answer.headers.get("Retry-After", "")
        return Heard(answer.status, float(after) if after.isdecimal() else None)

    def _headers(self, target: Target, post: Post, body: bytes) -> dict[str, str]:
        delivery, timestamp = delivery_id(post.key), int(self.clock())
        return {
            "Content-Type": "application/json",
            "User-Agent": f"bisect-tool/{__version__}",
            "webhook-id": delivery,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign_webhook(target.secrets, delivery, timestamp, body),
        }


def _connected(address: str, port: int, safe_for: str | None) -> urllib3.HTTPConnectionPool:
    """A way to an IP address; with `safe_for` encrypted, and the certificate must be for that host."""
    if safe_for is None:
        return urllib3.HTTPConnectionPool(address, port, timeout=TIMEOUT, retries=False)
    return urllib3.HTTPSConnectionPool(
        address, port, timeout=TIMEOUT, retries=False, server_hostname=safe_for, assert_hostname=safe_for
    )


def delivery_id(key: str) -> str:
    """What a receiver knows a delivery by, also when it comes again."""
    return f"msg_{key[:32]}"
