"""Sending what is for GitHub: looked for before it is written, edited where it is ours, left where others have a say.

What was sent and not noted, because we were killed or the answer was lost, is found by its mark. A comment that somebody else
has changed is never written over: another one takes its place. One that somebody deleted is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bisect_tool.service.github.client import Comment, GitHubClient
from bisect_tool.service.github.faults import Limited, Rejected, TokenRefused, Unclear
from bisect_tool.service.github.issue import Issue, issue_named
from bisect_tool.service.github.marker import DIGITS, Mark, mark_of, marked
from bisect_tool.service.posts import WAS_EDITED, NewPost, Post, PostKind, Posts, PostState, follower_key
from bisect_tool.service.talk_settings import GitHubSettings

KINDS = (PostKind.COMMENT, PostKind.REPLY, PostKind.REACTION)
PAUSES = (30.0, 120.0, 600.0, 3600.0, 3600.0, 10800.0, 21600.0, 43200.0)  # seconds before the second attempt …
MOST_ATTEMPTS = len(PAUSES) + 1
WITHOUT_TOKEN = 600.0  # seconds until a token that was refused is tried again
EDITED = "*An earlier comment of mine above was edited by somebody else, so I leave that as it is and write this one.*"


@dataclass(frozen=True, slots=True)
class GitHubSender:
    """Sends the posts that are for GitHub. `pause` waits for as many seconds, between two comments: GitHub asks for one."""

    posts: Posts
    settings: GitHubSettings
    client: GitHubClient
    pause: Callable[[float], None]

    def send(self, post: Post) -> None:
        """Send a post that was taken, and note what became of it. Raises `LeaseOver`."""
        if not self.settings.posts:
            self.posts.end(post, PostState.DRY, "dry run")
            return
        issue = issue_named(post.address)
        if issue.repository not in self.settings.repositories:
            self.posts.end(post, PostState.LEFT, f"{issue.repository} is not one of the repositories")
            return
        try:
            self._send(post, issue)
        except Limited as error:
            self.posts.later(post, error.seconds, error.said, counts=False)
            self.posts.hold(KINDS, error.seconds, error.said)
        except TokenRefused as error:
            self.posts.later(post, WITHOUT_TOKEN, error.said, counts=False)
            self.posts.hold(KINDS, WITHOUT_TOKEN, error.said)
        except Unclear as error:
            self._again(post, error.said)
        except Rejected as error:
            self.posts.end(post, PostState.FAILED, error.said)

    def _again(self, post: Post, why: str) -> None:
        if post.attempts + 1 >= MOST_ATTEMPTS:
            self.posts.end(post, PostState.FAILED, f"tried {MOST_ATTEMPTS} times: {why}")
        else:
            self.posts.later(post, PAUSES[min(post.attempts, len(PAUSES) - 1)], why)

    def _send(self, post: Post, issue: Issue) -> None:
        if post.kind is PostKind.REACTION:
            number, _, content = post.body.partition(" ")
            self.client.react(issue, int(number), content)
            self.posts.sent(post, None)
            return
        text = marked(post.body, post.key)
        ours = _of_post(self.client.own_comments(issue), post)
        if not ours:
            self._write(post, issue, text)
            return
        comment, mark = ours[-1]
        if mark is not None and mark.is_whole and mark == mark_of(text):
            self.posts.sent(post, str(comment.id))
        elif mark is not None and mark.is_whole:
            self.posts.keep(post)
            self.client.edit(issue, comment.id, text)
            self.posts.sent(post, str(comment.id))
            self.pause(1.0)
        else:
            self.posts.replace(post, f"{comment.address} {WAS_EDITED}", _follower(post))

    def _write(self, post: Post, issue: Issue, text: str) -> None:
        if post.remote is not None:
            self.posts.end(post, PostState.LEFT, "the comment was deleted on GitHub")
            return
        wait = self.posts.reserve(post, issue.repository, self.settings.daily)
        if wait is not None:
            why = f"{self.settings.daily} comments were made in {issue.repository} in the last 24 hours"
            self.posts.later(post, wait, why, counts=False)
            return
        self.posts.keep(post)
        made = self.client.create(issue, text)
        self.posts.sent(post, str(made.id))
        self.pause(1.0)


def _of_post(comments: Sequence[Comment], post: Post) -> list[tuple[Comment, Mark | None]]:
    """The comments that were written for a post; without a mark where somebody has removed that."""
    found = [(comment, mark_of(comment.body)) for comment in comments]
    return [
        (comment, mark)
        for comment, mark in found
        if str(comment.id) == post.remote or (mark is not None and mark.about == post.key[:DIGITS])
    ]


def _follower(post: Post) -> NewPost:
    """The post that takes the place of one whose comment somebody else has changed."""
    body = post.body.removeprefix(f"{EDITED}\n\n")
    return NewPost(follower_key(post.key), post.kind, post.address, post.question, f"{EDITED}\n\n{body}", post.gist)
