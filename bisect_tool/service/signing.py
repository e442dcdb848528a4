"""Signatures of webhooks: those that we send, and those that GitHub sends. Pure.

Ours are those of Standard Webhooks (https://www.standardwebhooks.com), so that receivers find a library in their language;
GitHub's are in https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

WEBHOOK_PREFIX = "whsec_"
_SECRET_BYTES = range(24, 65)


def webhook_secret(text: str) -> bytes:
    """The key in `whsec_` and base 64. Raises `ValueError`, whose text holds nothing of it."""
    if not text.startswith(WEBHOOK_PREFIX):
        raise ValueError(f"it does not begin with {WEBHOOK_PREFIX}")
    try:
        key = base64.b64decode(text.removeprefix(WEBHOOK_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("it is no base 64") from None
    if len(key) not in _SECRET_BYTES:
        raise ValueError(f"it has {len(key)} bytes")
    return key


def sign_webhook(secrets: Sequence[bytes], delivery: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: one signature for each secret, so that a receiver may change its own at any time."""
    content = b".".join((delivery.encode(), str(timestamp).encode(), body))
    return " ".join(f"v1,{_base64(hmac.digest(secret, content, 'sha256'))}" for secret in secrets)


def is_from_github(secret: str, body: bytes, header: str) -> bool:
    """Whether `x-hub-signature-256` is that of the raw body; no secret and no signature are never right."""
    if not secret:
        return False
    expected = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    return hmac.compare_digest(expected.encode(), header.encode("utf-8", "replace"))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
