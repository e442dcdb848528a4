"""What GitHub sends: commands of those who may give them are kept, once; everything else is let go."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from bisect_tool.service.app import make_app
from bisect_tool.service.github.marker import marked
from bisect_tool.service.services import Services
from bisect_tool.store.address import file_address
from tests.rig.fake_deliveries import Delivery, delivery, of_comment
from tests.rig.fake_github import FakeGitHub
from tests.rig.opened_services import ADDRESS, opened_services
from tests.rig.talk_stage import REPOSITORY, SECRET, Stage, talk_settings

PATH = "/api/v1/github/webhook"


@pytest.fixture
def github() -> FakeGitHub:
    """A GitHub that nobody asks: only what it would send is of interest."""
    github = FakeGitHub("http://127.0.0.1:1")
    github.add_issue(REPOSITORY, 12, "A failure", "It fails.")
    return github


@pytest.fixture
def services(made_file: Path, tmp_path: Path, github: FakeGitHub) -> Iterator[Services]:
    shutil.copy(made_file, tmp_path / "shared.sqlite")
    with opened_services(file_address(tmp_path / "shared.sqlite", is_own=False), tmp_path / "cache") as shut:
        yield replace(shut, talk=talk_settings(github))


@pytest.fixture
def client(services: Services) -> TestClient:
    return TestClient(make_app(services), base_url=ADDRESS)


def send(client: TestClient, sent: Delivery) -> Response:
    return client.post(PATH, content=sent.body, headers=sent.headers)


def said(github: FakeGitHub, text: str = "/bisect --from 2.12", author: str = "ann", **more: Any) -> Delivery:
    """Somebody who may comments."""
    fields = {"author_association": "MEMBER", "user": {"login": author, "type": "User"}, **more}
    comment = github.add_comment(REPOSITORY, 12, author, text, **fields)
    return of_comment(github, REPOSITORY, 12, comment, secret=SECRET)


def heard(services: Services) -> list[dict[str, Any]]:
    return Stage(services.database, services.talk).commands()


def test_a_command_is_kept_with_the_issue_as_it_was(client: TestClient, services: Services, github: FakeGitHub) -> None:
    answer = send(client, said(github, "Thanks.\r\n/bisect --from 2.12"))
    assert (answer.status_code, answer.json()) == (202, {"outcome": "asked"})
    (row,) = heard(services)
    assert (row["repository"], row["issue"], row["login"], row["said"]) == (REPOSITORY, 12, "ann", '["--from 2.12"]')
    assert row["comment"] == str(github.written[0]["id"])
    assert row["report"]["body"] == "It fails."
    assert row["report"]["comment_address"].endswith(f"#issuecomment-{row['comment']}")


def test_sent_twice_it_is_one(client: TestClient, services: Services, github: FakeGitHub) -> None:
    sent = said(github)
    assert [send(client, sent).json()["outcome"] for _ in range(2)] == ["asked", "received before"]
    assert len(heard(services)) == 1


def test_the_same_comment_from_two_webhooks_is_one(client: TestClient, services: Services, github: FakeGitHub) -> None:
    sent = said(github)
    other = replace(sent, headers=sent.headers | {"X-GitHub-Delivery": "another"})
    assert [send(client, one).json()["outcome"] for one in (sent, other)] == ["asked", "received before"]
    assert len(heard(services)) == 1


@pytest.mark.parametrize(
    ("signature", "secret"),
    [("", SECRET), ("sha256=00", SECRET), (None, "another secret of somebody else")],
)
def test_what_is_not_signed_by_github_is_refused(
    client: TestClient, services: Services, github: FakeGitHub, signature: str | None, secret: str
) -> None:
    comment = github.add_comment(REPOSITORY, 12, "ann", "/bisect", author_association="MEMBER")
    sent = of_comment(github, REPOSITORY, 12, comment, secret=secret)
    headers = sent.headers | ({} if signature is None else {"X-Hub-Signature-256": signature})
    answer = client.post(PATH, content=sent.body, headers=headers)
    assert answer.status_code == 401
    assert SECRET not in answer.text
    assert heard(services) == []


def test_a_body_that_was_changed_on_its_way_is_refused(client: TestClient, github: FakeGitHub) -> None:
    sent = said(github)
    assert send(client, replace(sent, body=sent.body + b" ")).status_code == 401


def test_without_a_secret_nothing_is_heard(services: Services, github: FakeGitHub) -> None:
    deaf = replace(services, talk=talk_settings(github, secret=""))
    client = TestClient(make_app(deaf), base_url=ADDRESS)
    comment = github.add_comment(REPOSITORY, 12, "ann", "/bisect", author_association="MEMBER")
    assert send(client, of_comment(github, REPOSITORY, 12, comment, secret="")).status_code == 404


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"text": "I like it"}, "no command"),
        ({"text": "> /bisect\n\nwhat does that do?"}, "no command"),
        ({"text": "```\n/bisect\n```"}, "no command"),
        ({"author_association": "NONE"}, "the author may not ask"),
        ({"author_association": "CONTRIBUTOR"}, "the author may not ask"),
        ({"text": marked("/bisect", "0" * 64)}, "written by a program"),
        ({"author": "dependabot[bot]", "user": {"login": "dependabot[bot]", "type": "Bot"}}, "written by a program"),
        ({"performed_via_github_app": {"id": 1}}, "written by a program"),
        ({"user": None}, "it is not what GitHub sends"),
    ],
)
def test_who_may_not_ask_and_what_is_no_command_is_let_go(
    client: TestClient, services: Services, github: FakeGitHub, more: dict[str, Any], outcome: str
) -> None:
    user = more.get("user", {})
    fields = {"text": "/bisect", **{key: value for key, value in more.items() if value is not None}}
    sent = said(github, **fields)
    if user is None:
        content = json.loads(sent.body)
        content["comment"]["user"] = None
        sent = delivery("issue_comment", content, SECRET)
    answer = send(client, sent)
    assert (answer.status_code, answer.json()["outcome"]) == (202, f"ignored: {outcome}")
    assert heard(services) == []


def test_edited_and_deleted_comments_are_let_go(client: TestClient, services: Services, github: FakeGitHub) -> None:
    comment = github.add_comment(REPOSITORY, 12, "ann", "/bisect", author_association="OWNER")
    for action in ("edited", "deleted"):
        sent = of_comment(github, REPOSITORY, 12, comment, secret=SECRET, action=action)
        assert send(client, sent).json()["outcome"] == "ignored: only new comments are read"
    assert heard(services) == []


def test_a_comment_that_somebody_else_sends_is_let_go(client: TestClient, github: FakeGitHub) -> None:
    comment = github.add_comment(REPOSITORY, 12, "ann", "/bisect", author_association="OWNER")
    sent = of_comment(github, REPOSITORY, 12, comment, secret=SECRET, sender="mallory")
    assert send(client, sent).json()["outcome"] == "ignored: sent by somebody else than its author"


def test_in_another_order_each_is_heard(client: TestClient, services: Services, github: FakeGitHub) -> None:
    first, second = said(github), said(github, "/bisect --to 2.15")
    assert [send(client, one).json()["outcome"] for one in (second, first, second)] == [
        "asked",
        "asked",
        "received before",
    ]
    assert [row["said"] for row in heard(services)] == ['["--to 2.15"]', '["--from 2.12"]']


def test_other_repositories_and_other_events_are_let_go(client: TestClient, github: FakeGitHub) -> None:
    github.add_issue("else/where", 1)
    comment = github.add_comment("else/where", 1, "ann", "/bisect", author_association="OWNER")
    sent = of_comment(github, "else/where", 1, comment, secret=SECRET)
    assert send(client, sent).json()["outcome"] == "ignored: not one of the repositories"
    assert send(client, delivery("ping", {"zen": "x"}, SECRET)).json()["outcome"] == "ignored: ping"
    assert send(client, delivery("issues", {}, SECRET)).json()["outcome"] == "ignored: no comment on an issue"


@pytest.mark.parametrize("content", ["text", [], None, {"action": "created"}, {"action": "created", "repository": []}])
def test_what_is_no_event_is_answered_and_let_go(client: TestClient, services: Services, content: Any) -> None:
    answer = send(client, delivery("issue_comment", content, SECRET))
    assert answer.status_code == (202 if isinstance(content, dict) else 400)
    assert heard(services) == []


def test_a_delivery_that_is_too_large_is_not_read(client: TestClient, github: FakeGitHub) -> None:
    sent = said(github, "/bisect\n" + "x" * 1_000_000)
    assert send(client, sent).status_code == 413


def test_a_delivery_without_an_id_is_refused(client: TestClient, github: FakeGitHub) -> None:
    sent = said(github)
    assert send(client, replace(sent, headers=sent.headers | {"X-GitHub-Delivery": "a b"})).status_code == 400
