"""What others have heard of the soak: comments on issues, and deliveries of webhooks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bisect_tool.service.github.marker import mark_of
from bisect_tool.service.github.posting import EDITED
from bisect_tool.service.question import Job, Purpose
from bisect_tool.service.signing import sign_webhook, webhook_secret
from tests.rig.fake_github import TOKEN, US, FakeGitHub
from tests.rig.hook_receiver import Delivery, HookReceiver
from tests.soak.toys import FIXED_IN, REPOSITORY, Asked

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
THEIRS = "It fails here too.\n\n<!-- bisect 00000000000000000000 00000000000000000000000000000000 -->"
EVENTS = {Purpose.ANSWER: ("question.answered",), Purpose.WATCH: ("failure.fixed", "answer.changed")}


@dataclass(frozen=True, slots=True)
class Others:
    """GitHub, and whoever receives webhooks."""

    github: FakeGitHub
    receiver: HookReceiver

    def environ(self) -> dict[str, str]:
        """How servers are told of them."""
        return {
            "BISECT_GITHUB_API": self.github.url, "BISECT_GITHUB_TOKEN": TOKEN, "BISECT_GITHUB_POST": "on",
            "BISECT_GITHUB_REPOSITORIES": REPOSITORY, "BISECT_GITHUB_DAILY": "1000", "BISECT_WEBHOOKS": self.receiver.url,
            "BISECT_WEBHOOK_SECRET": SECRET, "BISECT_WEBHOOK_PRIVATE": "on",
        }  # fmt: skip

    def open_issue(self, number: int) -> None:
        """An issue on which somebody has said something, which looks like ours but is not."""
        self.github.add_issue(REPOSITORY, number)
        self.github.add_comment(REPOSITORY, number, "somebody", THEIRS)

    def edit_ours(self, number: int) -> str | None:
        """Somebody writes into our comment; gives its text since then, None where there is no comment yet."""
        with self.github.lock:
            ours = [one for one in self.github.comments(REPOSITORY, number) if one["user"]["login"] == US]
            for one in ours:
                one["body"] = f"Somebody: I doubt that.\n\n{one['body']}"
            return str(ours[-1]["body"]) if ours else None

    def check_comments(self, asked: Mapping[str, Asked]) -> int:
        """One comment of ours on each issue, with the right answer, and nobody's words changed; gives how many there are."""
        return sum(self._check_issue(question, one) for question, one in asked.items())

    def _check_issue(self, question: str, asked: Asked) -> int:
        written = self.github.comments(REPOSITORY, asked.issue)
        ours = [str(one["body"]) for one in written if one["user"]["login"] == US]
        theirs = [one["body"] for one in written if one["user"]["login"] != US]
        assert theirs == [THEIRS], (question, theirs)
        if asked.edited is not None:
            assert ours[0] == asked.edited, (question, ours)
            assert ours[1].startswith(EDITED), (question, ours)
        assert len(ours) == (1 if asked.edited is None else 2), (question, ours)
        mark = mark_of(ours[-1])
        assert mark is not None, (question, ours)
        assert mark.is_whole, (question, ours)
        assert f"appeared in 1.{asked.first}" in ours[-1], (question, ours)
        assert (f"fixed in {FIXED_IN}" in ours[-1]) is asked.is_watched, (question, ours)
        return len(ours)

    def check_deliveries(self, jobs: Iterable[Job]) -> int:
        """Each event of each job under one id of its own, signed, the same bytes each time; gives how often one came again."""
        known: dict[str, set[bytes]] = defaultdict(set)
        for delivery in self.receiver.deliveries:
            assert delivery.headers["webhook-signature"] == _signature(delivery), delivery
            known[delivery.headers["webhook-id"]].add(delivery.body)
        assert all(len(bodies) == 1 for bodies in known.values()), known
        told = Counter(_event(body) for bodies in known.values() for body in bodies)
        assert told == Counter((kind, job.question, job.id) for job in jobs for kind in EVENTS[job.purpose])
        return len(self.receiver.deliveries) - len(known)


def _event(body: bytes) -> tuple[str, str, int]:
    said = json.loads(body)
    return said["type"], said["data"]["question"]["id"], said["data"]["job"]["id"]


def _signature(delivery: Delivery) -> str:
    number, sent = (delivery.headers[f"webhook-{name}"] for name in ("id", "timestamp"))
    return sign_webhook([webhook_secret(SECRET)], number, int(sent), delivery.body)
