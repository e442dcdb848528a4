"""A real server that is asked on GitHub, answers there, and is killed."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import requests

from tests.integration.conftest import Place, failing, history, place
from tests.rig.fake_deliveries import Delivery, of_comment
from tests.rig.fake_github import TOKEN, US, FakeGitHub, serve_github
from tests.rig.server import server
from tests.rig.talk_stage import SECRET

__all__ = ["place"]

REPOSITORY = "somebody/toy"
ISSUE = """\
It works in toy 1.0 and fails in toy 1.5.

```python
import toy

toy.run("main")
```

```
RuntimeError: the axis is lost
```
"""


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with serve_github() as github:
        github.add_issue(REPOSITORY, 12, "toy.run raises RuntimeError", ISSUE)
        yield github


def said(github: FakeGitHub, text: str) -> Delivery:
    user = {"login": "ann", "type": "User"}
    comment = github.add_comment(REPOSITORY, 12, "ann", text, author_association="OWNER", user=user)
    return of_comment(github, REPOSITORY, 12, comment, secret=SECRET)


def deliver(address: str, sent: Delivery) -> str:
    answer = requests.post(f"{address}/api/v1/github/webhook", data=sent.body, headers=sent.headers, timeout=60)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["outcome"])


def test_asked_on_github_answered_there_and_killed(place: Place, github: FakeGitHub) -> None:
    place.publish(history(6, failing([3, 4, 5], "RuntimeError: the axis is lost")))
    place.extra = {
        "BISECT_GITHUB_API": github.url, "BISECT_GITHUB_TOKEN": TOKEN, "BISECT_GITHUB_POST": "on",
        "BISECT_GITHUB_REPOSITORIES": REPOSITORY, "BISECT_GITHUB_WEBHOOK_SECRET": SECRET,
    }  # fmt: skip
    sent = said(github, "/bisect device=cpu")
    with server(place.command("serve"), place.environ(), place.root) as served:
        assert deliver(served.address, sent) == "asked"
        github.wait_for("create")
        served.stop(signal.SIGKILL)
        assert not any(TOKEN in line or SECRET in line for line in served.log)
    with server(place.command("serve", "--workers", "0"), place.environ(), place.root) as served:
        assert deliver(served.address, sent) == "received before"
        assert deliver(served.address, said(github, "/bisect help")) == "asked"
        github.wait_for("create", 2)
        assert served.stop() == 0
    answer, help_text = (one["body"] for one in github.comments(REPOSITORY, 12) if one["user"]["login"] == US)
    assert "appeared in 1.3" in answer
    assert str(place.root) not in answer
    assert "A comment with one of these lines" in help_text
    assert {kind for _, _, kind in github.reactions} == {"eyes"}
