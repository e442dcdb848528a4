"""What a server does to talk: it works off commands, decides what is told, and sends it.

Each server has threads for that, and may be killed at any moment: what it was doing is done by another one, or by itself when
it is back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy.exc import SQLAlchemyError

from bisect_tool.errors import BisectError
from bisect_tool.service.asking import Asking
from bisect_tool.service.github.client import GitHubClient
from bisect_tool.service.github.credentials import AppCredentials, TokenCredentials
from bisect_tool.service.github.posting import KINDS, GitHubSender
from bisect_tool.service.posts import LeaseOver, Post, PostKind, Posts
from bisect_tool.service.questions import Questions
from bisect_tool.service.services import Services, is_loopback
from bisect_tool.service.talk_settings import TalkSettings
from bisect_tool.service.telling import Teller
from bisect_tool.service.webhooks import WebhookSender
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.store.database import Database

POLL = 1.0  # seconds between two looks when nothing is to be done
AFTER_FAULT = 10.0  # seconds
GRACE = 10.0  # seconds that the end of a server waits for what is being sent
_LOG = logging.getLogger("bisect.talking")


@dataclass(frozen=True, slots=True)
class Talker:
    """Talks for a database."""

    posts: Posts
    asking: Asking
    teller: Teller
    github: GitHubSender
    webhooks: WebhookSender

    def step(self) -> bool:
        """Do one thing of each kind; False when there was nothing to do."""
        has_spoken, has_called = self.speak(), self.call()
        return has_spoken or has_called

    def speak(self) -> bool:
        """Take one command a step further, decide about jobs that have ended, send one post to GitHub."""
        was_asked = self.asking.work()
        was_told = self.teller.tell() > 0
        return self._send(self.posts.take(KINDS)) or was_asked or was_told

    def call(self) -> bool:
        """Call one webhook."""
        return self._send(self.posts.take((PostKind.WEBHOOK,)))

    def _send(self, post: Post | None) -> bool:
        if post is None:
            return False
        try:
            if post.kind is PostKind.WEBHOOK:
                self.webhooks.send(post)
            else:
                self.github.send(post)
        except LeaseOver:
            _LOG.warning("post %d took too long, another server sends it", post.id)
            return True
        sent = self.posts.get(post.id)
        if sent is not None:
            about = {"post": post.id, "question": post.question}
            _LOG.info("post %d (%s): %s", post.id, post.kind, sent.state, extra=about)
        return True


def work(step: Callable[[], bool], stop: Stop) -> None:
    """Do steps until `stop` is set. A fault of ours is logged, and does not end it."""
    while not stop.is_set:
        try:
            pause = 0.0 if step() else POLL
        except (BisectError, SQLAlchemyError) as error:
            _LOG.warning("cannot talk now: %s", error.what if isinstance(error, BisectError) else type(error).__name__)
            pause = AFTER_FAULT
        except Cancelled:
            return
        except Exception:  # noqa: BLE001 - one post may not silence all others; it is tried again after its lease
            _LOG.exception("a defect")
            pause = AFTER_FAULT
        try:
            stop.sleep(pause)
        except Cancelled:
            return


@contextmanager
def voice(services: Services, stop: Stop) -> Iterator[None]:
    """Threads that talk until `stop`: a webhook that does not answer holds up no comment.

    The end of the block waits a while for what is being sent. What takes longer is left to the next server, which looks whether
    it arrived.
    """
    address = services.hosting.address
    if services.talk.github.posts and is_loopback(urlsplit(address).hostname or ""):
        _LOG.warning("comments will link to %s, which nobody else reaches: say --address", address)
    talker = open_talker(services.database, services.talk, lambda question: f"{address}/q/{question}", pause=stop.sleep)
    threads = [
        threading.Thread(target=work, args=(step, stop), name=f"talking {number}", daemon=True)
        for number, step in enumerate((talker.speak, talker.call), 1)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(GRACE)


def open_talker(
    database: Database,
    settings: TalkSettings,
    page: Callable[[str], str],
    *,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Talker:
    """A talker for `database`; `page` gives the address of the page of a question. Asks nobody yet."""
    posts = Posts(database)
    teller = Teller(database, settings, page)
    github = settings.github
    who = AppCredentials(github.app, clock) if github.app else TokenCredentials(github.token)
    client = GitHubClient(who, github.api, clock)
    return Talker(
        posts,
        Asking(Questions(database), teller, github.seconds_a_day),
        teller,
        GitHubSender(posts, github, client, pause),
        WebhookSender(posts, settings.targets, settings.may_be_private, clock),
    )
