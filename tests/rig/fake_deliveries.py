"""Deliveries of GitHub's webhooks as it makes them: signed, sometimes twice, sometimes in another order.

The shape follows https://docs.github.com/en/webhooks/webhook-events-and-payloads#issue_comment.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.rig.fake_github import FakeGitHub


@dataclass(frozen=True)
class Delivery:
    """One delivery: the headers and the raw body."""

    headers: dict[str, str]
    body: bytes = field(repr=False)


def of_comment(
    github: FakeGitHub,
    repository: str,
    number: int,
    comment: Mapping[str, Any],
    *,
    secret: str,
    action: str = "created",
    sender: str | None = None,
    **issue: Any,
) -> Delivery:
    """What GitHub sends when a comment was made, edited or deleted; `issue` are fields of the issue that are different."""
    login = sender or comment["user"]["login"]
    content = {
        "action": action,
        "issue": {**github.issues[repository.lower(), number], **issue},
        "comment": {key: value for key, value in comment.items() if key != "where"},
        "repository": {"full_name": repository, "private": False},
        "sender": {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"},
    }
    return delivery("issue_comment", content, secret)


def delivery(event: str, content: Any, secret: str, number: str | None = None) -> Delivery:
    """A delivery of any event."""
    body = json.dumps(content).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return Delivery(
        {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/0000000",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": number or str(uuid.uuid4()),
            "X-GitHub-Hook-ID": "1",
            "X-Hub-Signature-256": f"sha256={signature}",
        },
        body,
    )
